; SPDX-License-Identifier: Apache-2.0
;
; void hook_handler(void), entered by the CPU; hook.h says what it does.

%include "tests/guest/both.inc"

        section .text
        extern  prof_sample
        global  hook_handler:function (hook_handler.end - hook_handler)
        global  hook_ticks, hook_next

hook_handler:
        SAMPLE_INTERRUPTED hook_ticks
        jmp     [hook_next]
.end:

        section .bss
        align   WORD_BYTES
hook_next:  resb WORD_BYTES
hook_ticks: resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits
