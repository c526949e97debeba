; SPDX-License-Identifier: Apache-2.0
;
; void step_handler(void), entered by the CPU; step.h says what it does.

%include "tests/guest/both.inc"

        section .text
        extern  prof_sample, step_taken
        global  step_handler:function (step_handler.end - step_handler)
        global  step_count

step_handler:
        SAMPLE_INTERRUPTED step_count
        PUSH_SCRATCH
        cld
%if WORD_BYTES == 8
        mov     rdi, [rsp + (SCRATCH_WORDS + 2) * 8]
        call    step_taken
        POP_SCRATCH
        iretq
%else
        push    dword [esp + (SCRATCH_WORDS + 2) * 4]
        call    step_taken
        add     esp, 4
        POP_SCRATCH
        iret
%endif
.end:

        section .bss
        align   4
step_count: resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits
