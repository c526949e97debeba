; SPDX-License-Identifier: Apache-2.0
;
; What C cannot do to its stack; main.c says what for.

%include "tests/guest/both.inc"

; A push is a fault there, also while reporting.
%if WORD_BYTES == 8
NOWHERE equ     1 << 63                 ; not canonical
%else
NOWHERE equ     8                       ; in page 0
%endif

        section .text

; void lose_stack(void)
FUNCTION lose_stack
        push    XBP
        mov     XBP, XSP
        mov     XAX, NOWHERE
        mov     XSP, XAX
        ud2
.end:

; void invalid_opcode(void)
FUNCTION invalid_opcode
        ud2
.end:

; void call_with_fp(uintptr_t fp, void (*function)(void))
FUNCTION call_with_fp
        ARGUMENT XAX, 2
        ARGUMENT XCX, 1
        push    XBP
        mov     XBP, XCX
        sub     XSP, 16 - 2 * WORD_BYTES ; aligned to 16 bytes at the call
        call    XAX
        add     XSP, 16 - 2 * WORD_BYTES
        pop     XBP
        ret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
