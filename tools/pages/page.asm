; SPDX-License-Identifier: Apache-2.0
;
; extern const char page_flame_begin[], page_flame_end[];
;
; The page's template, as tools/pages/join.sh made it.

section .rodata
global page_flame_begin, page_flame_end
page_flame_begin:
    incbin "flame.html"
page_flame_end:

section .note.GNU-stack noalloc noexec nowrite progbits
