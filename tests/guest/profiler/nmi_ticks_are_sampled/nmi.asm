; SPDX-License-Identifier: Apache-2.0
;
; void nmi_handler(void), entered by the CPU; nmi.h says what it does.

%include "tests/guest/both.inc"

        section .text
        extern  prof_sample
        global  nmi_handler:function (nmi_handler.end - nmi_handler)
        global  nmi_ticks

nmi_handler:
        SAMPLE_INTERRUPTED nmi_ticks
%if WORD_BYTES == 8
        iretq
%else
        iret
%endif
.end:

        section .bss
        align   4
nmi_ticks:  resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits
