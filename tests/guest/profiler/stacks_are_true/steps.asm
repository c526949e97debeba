; SPDX-License-Identifier: Apache-2.0
;
; Functions whose every instruction is a place for a sample; main.c says what
; each is for.

%include "tests/guest/both.inc"

        section .text

FUNCTION asm_frameless
        mov     eax, 1
        add     eax, 2
        ret
.end:

FUNCTION asm_one_push
        xor     eax, eax
        push    XBX
        mov     ebx, 1
        add     eax, ebx
        pop     XBX
        inc     eax
        ret
.end:

FUNCTION asm_late_frame
        mov     eax, 1
        push    XBP
        add     eax, 2
        mov     XBP, XSP
        push    XBX
        sub     XSP, 2 * WORD_BYTES
        mov     ebx, eax
        add     XSP, 2 * WORD_BYTES
        pop     XBX
        pop     XBP
        ret
.end:

FUNCTION asm_early_return
        xor     eax, eax
        test    eax, eax
        jz      .at_once
        push    XBP
        mov     XBP, XSP
        nop
        pop     XBP
        ret
.at_once:
        inc     eax
        ret
.end:

FUNCTION asm_endbr
        ENDBR
        push    XBP
        mov     XBP, XSP
        nop
        pop     XBP
        ret
.end:

FUNCTION asm_leave
        push    XBP
        mov     XBP, XSP
        sub     XSP, 16 * WORD_BYTES
        mov     [XSP], eax
        mov     eax, [XSP]
        leave
        ret
.end:

FUNCTION asm_behind_pop
        push    XBP
        mov     XBP, XSP
        mov     eax, 1
        pop     XBP
        add     eax, 2
        test    eax, eax
        setz    al
        ret
.end:

FUNCTION asm_jumps
        mov     ecx, 3
        jmp     .test
.again: dec     ecx
.test:  test    ecx, ecx
        jnz     .again
        jmp     .out
        nop
.out:   ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
