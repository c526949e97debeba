; SPDX-License-Identifier: Apache-2.0
;
; void timer_handler(void), entered by the CPU: the kernel's own, which calls
; timer_tick().

%include "tests/guest/both.inc"

        section .text
        extern  timer_tick
        global  timer_handler:function (timer_handler.end - timer_handler)

timer_handler:
        PUSH_SCRATCH
        cld
        call    timer_tick
        POP_SCRATCH
%if WORD_BYTES == 8
        iretq
%else
        iret
%endif
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
