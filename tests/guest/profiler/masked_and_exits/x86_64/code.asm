; SPDX-License-Identifier: Apache-2.0
; What code.h declares.

        section .text
        global  dark_sti:function (dark_sti.end - dark_sti)
        global  dark_popf:function (dark_popf.end - dark_popf)
        global  bright:function (bright.end - bright)
        global  port_access:function (port_access.end - port_access)
        global  looks_like_it:function (looks_like_it.end - looks_like_it)
        global  kick:function (kick.end - kick)

%macro  ROUNDS 0
        mov     ecx, edi
%endmacro

dark_sti:
        ROUNDS
.round: cli
        times   358 nop
        sti
        nop                             ; interrupts get in behind this one
        times   36 nop
        dec     ecx
        jnz     .round
        ret
.end:

dark_popf:
        ROUNDS
.round: pushfq
        cli
        times   357 nop
        popfq
        times   37 nop
        dec     ecx
        jnz     .round
        ret
.end:

bright:
        ROUNDS
.round: times   397 nop
        dec     ecx
        jnz     .round
        ret
.end:

port_access:
        ROUNDS
        mov     edx, 0x80
.round: times   8 nop
        in      al, dx
        jmp     short .next
.next:  times   8 nop
        dec     ecx
        jnz     .round
        ret
.end:

looks_like_it:
        ROUNDS
.round: mov     edx, 0xecfb9dec         ; in, sti, popf, in
        nop
        mov     edx, 0xfb909090
        nop
        test    dl, 0xec
        nop
        dec     ecx
        jnz     .round
        ret
.end:

kick:
        ROUNDS
.round: dec     ecx
        jnz     .round
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
