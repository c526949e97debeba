; SPDX-License-Identifier: Apache-2.0
;
; Comes before boot_entry and takes from the loader's information (ebx) what it
; says about memory: PVH's address and number of ranges, or Multiboot 2's tags
; of the amount and of the map, which get a unknown number.

bits 32

MULTIBOOT2_MAGIC    equ 0x36d76289
TAG_TYPE            equ 0
TAG_BYTES           equ 4
TAG_END             equ 0
TAG_BASIC_MEMORY    equ 4
TAG_MEMORY_MAP      equ 6
TAG_UNKNOWN         equ 0x7777
PVH_RANGES          equ 40
PVH_RANGE_COUNT     equ 48

extern boot_entry
global shim:function (shim.end - shim)

section .text

; void shim(void)
;   in: eax = magic, ebx = information. Clobbers ecx, edx.
shim:
    cmp     eax, MULTIBOOT2_MAGIC
    je      .multiboot2
    mov     dword [ebx + PVH_RANGES], 0
    mov     dword [ebx + PVH_RANGES + 4], 0
    mov     dword [ebx + PVH_RANGE_COUNT], 0
    jmp     boot_entry

.multiboot2:
    lea     ecx, [ebx + 8]          ; the first tag
.tag:
    mov     edx, [ecx + TAG_TYPE]
    cmp     edx, TAG_END
    je      boot_entry
    cmp     edx, TAG_BASIC_MEMORY
    je      .hide
    cmp     edx, TAG_MEMORY_MAP
    jne     .next
.hide:
    mov     dword [ecx + TAG_TYPE], TAG_UNKNOWN
.next:
    mov     edx, [ecx + TAG_BYTES]
    lea     ecx, [ecx + edx + 7]    ; tags begin at multiples of 8
    and     ecx, ~7
    jmp     .tag
.end:
