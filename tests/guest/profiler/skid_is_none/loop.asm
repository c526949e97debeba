; SPDX-License-Identifier: Apache-2.0
;
; void skid_loop(uint32_t rounds, void *memory);
;
; A string instruction of 4,096 steps, and a thousand plain ones after it.
; skid_string and skid_after are the addresses of the string instruction and of
; what follows it. clobbers: what a C function may

%include "tests/guest/both.inc"

        section .text
        global  skid_string, skid_after

FUNCTION skid_loop
        FIRST_ARGUMENT
        mov     edx, ecx
        ARGUMENT XAX, 2
        push    XDI
        push    XBX
        mov     XBX, XAX
.round: mov     ecx, 4096
        cld
        mov     XDI, XBX
skid_string:
        rep     stosb
skid_after:
        times   1000 nop
        dec     edx
        jnz     skid_loop.round
        pop     XBX
        pop     XDI
        ret
skid_loop.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
