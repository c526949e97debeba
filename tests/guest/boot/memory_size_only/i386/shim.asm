; SPDX-License-Identifier: Apache-2.0
;
; Comes before boot_entry and takes the memory map from the loader's information
; (ebx), but not the amount of memory: Multiboot 1's flag for the map.

bits 32

FLAG_MEMORY_MAP     equ 1 << 6

extern boot_entry
global shim:function (shim.end - shim)

section .text

; void shim(void)
shim:
    and     dword [ebx], ~FLAG_MEMORY_MAP
    jmp     boot_entry
.end:
