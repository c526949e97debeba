; SPDX-License-Identifier: Apache-2.0
;
; Comes before boot_entry and takes from the loader's information (ebx) what it
; says about memory: Multiboot 1's flags for the amount and for the map.

bits 32

FLAG_MEMORY         equ 1 << 0
FLAG_MEMORY_MAP     equ 1 << 6

extern boot_entry
global shim:function (shim.end - shim)

section .text

; void shim(void)
shim:
    and     dword [ebx], ~(FLAG_MEMORY | FLAG_MEMORY_MAP)
    jmp     boot_entry
.end:
