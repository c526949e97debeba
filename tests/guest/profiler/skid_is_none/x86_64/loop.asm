; SPDX-License-Identifier: Apache-2.0
;
; void skid_loop(uint32_t rounds, void *memory);
;
; A string instruction of 4,096 steps, and a thousand plain ones after it.
; skid_string and skid_after are the addresses of the string instruction and of
; what follows it. clobbers: what a C function may

        section .text
        global  skid_loop:function (skid_loop.end - skid_loop)
        global  skid_string, skid_after

skid_loop:
        mov     edx, edi
        mov     r8, rsi
.round: mov     ecx, 4096
        cld
        mov     rdi, r8
skid_string:
        rep     stosb
skid_after:
        times   1000 nop
        dec     edx
        jnz     skid_loop.round

        ret
skid_loop.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
