; SPDX-License-Identifier: Apache-2.0
;
; extern const char page_flame_begin[], page_flame_end[];
; extern const char page_annotate_begin[], page_annotate_end[];
; extern const char page_overview_begin[], page_overview_end[];
; extern const char page_timeline_begin[], page_timeline_end[];
; extern const char page_causal_begin[], page_causal_end[];
;
; The pages' templates, as build_page.py made them.

section .rodata
global page_flame_begin, page_flame_end
global page_annotate_begin, page_annotate_end
global page_overview_begin, page_overview_end
global page_timeline_begin, page_timeline_end
global page_causal_begin, page_causal_end
page_flame_begin:
    incbin "flame.html"
page_flame_end:
page_annotate_begin:
    incbin "annotate.html"
page_annotate_end:
page_overview_begin:
    incbin "overview.html"
page_overview_end:
page_timeline_begin:
    incbin "timeline.html"
page_timeline_end:
page_causal_begin:
    incbin "causal.html"
page_causal_end:

section .note.GNU-stack noalloc noexec nowrite progbits
