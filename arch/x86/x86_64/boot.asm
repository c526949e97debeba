; SPDX-License-Identifier: Apache-2.0
;
; From the loader to C, 64-bit.
;
; Both loaders enter in 32-bit protected mode with flat segments, paging off and
; interrupts off. Multiboot 2 passes its magic in eax and the address of its
; information in ebx; PVH passes the address of its start_info in ebx, and eax
; is undefined. This code identity-maps the first 4 GiB and switches to long
; mode. boot_protocol.c distinguishes the loaders, and paging.c refines the
; page tables.

bits 32

extern boot_stack_top, data_end, gdt_pointer, arch_start
extern page_level4, page_pointers, page_directories
global boot_entry:function (boot_entry.end - boot_entry)

CODE_SELECTOR       equ 0x08        ; as in tables.c
DATA_SELECTOR       equ 0x10

PAGE_PRESENT        equ 1 << 0
PAGE_WRITABLE       equ 1 << 1
PAGE_LARGE          equ 1 << 7
ENTRY_BYTES         equ 8
DIRECTORIES         equ 4           ; of 1 GiB each
DIRECTORY_ENTRIES   equ DIRECTORIES * 512
LARGE_PAGE_BYTES    equ 2 << 20
PAGE_BYTES          equ 4096

CR0_PG              equ 1 << 31
CR4_PAE             equ 1 << 5
MSR_EFER            equ 0xc0000080
EFER_LME            equ 1 << 8
FEATURE_LONG_MODE   equ 1 << 29

section .rodata
no_ram:       db "boot: the image is larger than the RAM", 13, 10, 0
no_long_mode: db "boot: this CPU has no long mode; use the i386 image"
              db 13, 10, 0

section .text

%include "../boot_fail.inc"

; void boot_entry(void)
;   in: eax = magic, ebx = information. Does not return.
boot_entry:
    cli
    cld
    REQUIRE_RAM no_ram
    mov     esp, boot_stack_top
    mov     ebp, eax                ; magic, preserved by the checks below
    mov     edi, ebx                ; information

    mov     eax, CPUID_EXTENDED_MAX
    cpuid
    cmp     eax, CPUID_EXTENDED
    mov     esi, no_long_mode
    jb      boot_fail
    REQUIRE_CPUID CPUID_EXTENDED, FEATURE_LONG_MODE, no_long_mode

    ; level 4 -> pointers -> four directories of 2 MiB pages, 0 to 4 GiB
    mov     dword [page_level4], page_pointers + (PAGE_PRESENT | PAGE_WRITABLE)
    mov     eax, page_directories + (PAGE_PRESENT | PAGE_WRITABLE)
    xor     ecx, ecx
.pointer:
    mov     [page_pointers + ecx * ENTRY_BYTES], eax
    add     eax, PAGE_BYTES
    inc     ecx
    cmp     ecx, DIRECTORIES
    jb      .pointer

    mov     eax, PAGE_PRESENT | PAGE_WRITABLE | PAGE_LARGE
    xor     ecx, ecx
.large_page:
    mov     [page_directories + ecx * ENTRY_BYTES], eax
    add     eax, LARGE_PAGE_BYTES
    inc     ecx
    cmp     ecx, DIRECTORY_ENTRIES
    jb      .large_page

    lgdt    [gdt_pointer]
    mov     eax, cr4
    or      eax, CR4_PAE
    mov     cr4, eax
    mov     eax, page_level4
    mov     cr3, eax
    mov     ecx, MSR_EFER
    rdmsr
    or      eax, EFER_LME
    wrmsr
    mov     eax, cr0
    or      eax, CR0_PG
    mov     cr0, eax
    jmp     CODE_SELECTOR:.long

bits 64
.long:
    mov     eax, DATA_SELECTOR
    mov     ds, eax
    mov     es, eax
    mov     fs, eax
    mov     gs, eax
    mov     ss, eax
    ; arch_start(magic, information). Return address and frame pointer are
    ; zero, so that stack walks end here.
    mov     esi, edi
    mov     edi, ebp
    mov     rsp, boot_stack_top
    push    qword 0
    xor     ebp, ebp
    jmp     arch_start
.end:
