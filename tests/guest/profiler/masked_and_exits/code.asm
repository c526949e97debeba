; SPDX-License-Identifier: Apache-2.0
; What main.c declares.

%include "tests/guest/both.inc"

        section .text
        global  dark_sti:function (dark_sti.end - dark_sti)
        global  dark_popf:function (dark_popf.end - dark_popf)
        global  bright:function (bright.end - bright)
        global  port_access:function (port_access.end - port_access)
        global  read_port:function (read_port.end - read_port)
        global  port_call:function (port_call.end - port_call)
        global  looks_like_it:function (looks_like_it.end - looks_like_it)
        global  kick:function (kick.end - kick)

dark_sti:
        FIRST_ARGUMENT          ; rounds
.round: cli
        times   358 nop
        sti
        nop                             ; interrupts get in after this one
        times   36 nop
        dec     ecx
        jnz     .round
        ret
.end:

dark_popf:
        FIRST_ARGUMENT          ; rounds
.round: pushf
        cli
        times   357 nop
        popf
        times   37 nop
        dec     ecx
        jnz     .round
        ret
.end:

bright:
        FIRST_ARGUMENT          ; rounds
.round: times   397 nop
        dec     ecx
        jnz     .round
        ret
.end:

port_access:
        FIRST_ARGUMENT          ; rounds
        mov     edx, 0x80
.round: times   8 nop
        in      al, dx
        jmp     short .next
.next:  times   8 nop
        dec     ecx
        jnz     .round
        ret
.end:

; Ends with leaving the guest, so that its caller is charged.
read_port:
        in      al, dx
        ret
.end:

port_call:
        FIRST_ARGUMENT          ; rounds
        mov     edx, 0x80
.round: times   7 nop
        call    read_port
        times   8 nop
        dec     ecx
        jnz     .round
        ret
.end:

looks_like_it:
        FIRST_ARGUMENT          ; rounds
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
        FIRST_ARGUMENT          ; rounds
.round: dec     ecx
        jnz     .round
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
