; SPDX-License-Identifier: Apache-2.0
;
; extern const char page_NAME_begin[], page_NAME_end[];
;
; The pages' templates, as build_page.py made them.

%macro page 1
    %defstr %%name %1
    %strcat %%file %%name, ".html"
global page_%1_begin, page_%1_end
page_%1_begin:
    incbin %%file
page_%1_end:
%endmacro

section .rodata
page flame
page annotate
page overview
page timeline
page causal
page fleet
page live

section .note.GNU-stack noalloc noexec nowrite progbits
