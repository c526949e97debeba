; SPDX-License-Identifier: Apache-2.0
;
; From the loader to C, 32-bit.
;
; Multiboot 1 and PVH enter in protected mode with flat segments, paging off and
; interrupts off: eax holds Multiboot's magic, or with PVH anything, ebx the
; address of the loader's information. There is no stack yet, and the loader's
; GDT may have been overwritten. Tables, memory map and paging are set up in C,
; by start.c.

bits 32

extern boot_stack_top, data_end, gdt_pointer, arch_start
global boot_entry:function (boot_entry.end - boot_entry)

CODE_SELECTOR       equ 0x08        ; as in tables.c
DATA_SELECTOR       equ 0x10

FEATURE_FPU         equ 1 << 0
FEATURE_TSC         equ 1 << 4
FEATURE_MSR         equ 1 << 5
FEATURE_PAE         equ 1 << 6
FEATURE_CMOV        equ 1 << 15

section .rodata
no_ram:     db "boot: the image is larger than the RAM", 13, 10, 0
no_cpuid:   db "boot: this CPU has no CPUID; an i686 with PAE is needed"
            db 13, 10, 0
no_pae:     db "boot: this CPU has no PAE; it is needed for paging"
            db 13, 10, 0
no_i686:    db "boot: this CPU lacks FPU, TSC, MSR or CMOV; "
            db "an i686 is needed", 13, 10, 0

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

    pushfd                          ; CPUID exists if this bit can change
    mov     eax, [esp]
    xor     dword [esp], FLAGS_ID
    popfd
    pushfd
    pop     edx
    push    eax
    popfd
    xor     edx, eax
    test    edx, FLAGS_ID
    mov     esi, no_cpuid
    jz      boot_fail

    REQUIRE_CPUID CPUID_FEATURES, FEATURE_PAE, no_pae
    REQUIRE_CPUID CPUID_FEATURES, FEATURE_FPU | FEATURE_TSC | FEATURE_MSR \
        | FEATURE_CMOV, no_i686

    lgdt    [gdt_pointer]
    mov     eax, DATA_SELECTOR
    mov     ds, eax
    mov     es, eax
    mov     fs, eax
    mov     gs, eax
    mov     ss, eax
    jmp     CODE_SELECTOR:.flat
.flat:
    ; The stack of arch_start(magic, information), 16-byte aligned above the
    ; return address. Return address and frame pointer are zero, so that stack
    ; walks end here.
    ;
    ;   top - 8   unused
    ;   top - 12  information
    ;   top - 16  magic
    ;   top - 20  0
    mov     esp, boot_stack_top - 8
    push    edi
    push    ebp
    push    dword 0
    xor     ebp, ebp
    jmp     arch_start
.end:
