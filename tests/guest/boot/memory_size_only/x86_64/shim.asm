; SPDX-License-Identifier: Apache-2.0
;
; Comes before boot_entry and takes the memory map from the loader's information
; (ebx), but not the amount of memory: Multiboot 2's tag of the map gets a
; unknown number.

bits 32

TAG_TYPE            equ 0
TAG_BYTES           equ 4
TAG_END             equ 0
TAG_MEMORY_MAP      equ 6
TAG_UNKNOWN         equ 0x7777

extern boot_entry
global shim:function (shim.end - shim)

section .text

; void shim(void)
;   in: ebx = information. Clobbers ecx, edx.
shim:
    lea     ecx, [ebx + 8]          ; the first tag
.tag:
    mov     edx, [ecx + TAG_TYPE]
    cmp     edx, TAG_END
    je      boot_entry
    cmp     edx, TAG_MEMORY_MAP
    jne     .next
    mov     dword [ecx + TAG_TYPE], TAG_UNKNOWN
.next:
    mov     edx, [ecx + TAG_BYTES]
    lea     ecx, [ecx + edx + 7]    ; tags begin at multiples of 8
    and     ecx, ~7
    jmp     .tag
.end:
