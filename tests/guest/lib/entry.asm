; SPDX-License-Identifier: Apache-2.0
;
; Entries of interrupts, and calls on other stacks; entry.h describes them.

%include "tests/guest/both.inc"

        section .text

; Below what the CPU has pushed is the address to go on at, then the frame
; pointer, so that the frame is one of those that a walk may follow.
%macro  ENTRY 1
FUNCTION guest_entry_%1
        push    entry_return
        push    XBP
        mov     XBP, XSP
        PUSH_ALL SCRATCH
        cld
        lea     XAX, [XBP + 2 * WORD_BYTES]
        and     XSP, -16
%if WORD_BYTES == 8
        mov     rdi, rax
%else
        sub     esp, 12
        push    eax
%endif
        call    [guest_entry_functions + %1 * WORD_BYTES]
        lea     XSP, [XBP - SCRATCH_WORDS * WORD_BYTES]
        POP_ALL SCRATCH
        pop     XBP
        ret
.end:
%endmacro

        ENTRY   0
        ENTRY   1

entry_return:
        IRET

FUNCTION guest_call_on
        ARGUMENT XAX, 1
        ARGUMENT XCX, 2
        ARGUMENT XDX, 3
        push    XBP
        push    XBX
        mov     XBX, XSP
        mov     XSP, XAX
        mov     XBP, XCX
        call    XDX
        mov     XSP, XBX
        pop     XBX
        pop     XBP
        ret
.end:

        section .bss
        global  guest_entry_functions
        align   WORD_BYTES
guest_entry_functions: resb 2 * WORD_BYTES

        section .note.GNU-stack noalloc noexec nowrite progbits
