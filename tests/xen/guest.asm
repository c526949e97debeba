; SPDX-License-Identifier: Apache-2.0
;
; A guest of known shares: three chains of calls with frame pointers, forever,
; whose leaves run 6 : 3 : 1 of the instructions. PVH or PV, by what is defined,
; and of the width that it is assembled for. PVH starts without paging: 64 bits
; need it, and with 32 it stays so. PV starts in tables that Xen made.
;
; Source: Xen's public header xen/elfnote.h.

%ifidn __OUTPUT_FORMAT__, elf64
%define LONG
%define FP rbp
%define SP rsp
%else
%define FP ebp
%define SP esp
%endif

%macro NOTE 2+ ; type, value
    dd 4, %%end - %%value, %1
    db "Xen", 0
%%value:
    %2
%%end:
    align 4
%endmacro

section .note note alloc noexec nowrite align=4
%ifdef PVH
    NOTE 18, dd entry
%else
    NOTE 5, db "xen-3.0", 0
    NOTE 6, db "spin", 0
    NOTE 8, db "generic", 0
    NOTE 9, db "yes", 0
%ifdef LONG
    NOTE 1, dq entry
    NOTE 3, dq 0
    NOTE 4, dq 0
%else
    NOTE 1, dd entry
    NOTE 3, dd 0
    NOTE 4, dd 0
%endif
%endif

section .bss align=4096
pml4:   resb 4096
pdpt:   resb 4096
pd:     resb 4096
        resb 16384
stack:

section .data align=16
gdt:    dq 0, 0x00af9b000000ffff, 0x00cf93000000ffff
gdtr:   dw 23
        dd gdt

%macro FUNCTION 1
global %1:function (%1.end - %1)
%1:
%endmacro

section .text align=16
%ifdef PVH
bits 32
%endif
FUNCTION entry
%ifdef PVH
    mov esp, stack
%ifdef LONG
    mov dword [pml4], pdpt + 3
    mov dword [pdpt], pd + 3
    xor ecx, ecx
.page:
    mov eax, ecx
    shl eax, 21
    or eax, 0x83
    mov [pd + ecx * 8], eax
    inc ecx
    cmp ecx, 512
    jb .page
    mov eax, cr4
    or eax, 1 << 5
    mov cr4, eax
    mov eax, pml4
    mov cr3, eax
    mov ecx, 0xc0000080
    rdmsr
    or eax, 1 << 8
    wrmsr
    mov eax, cr0
    or eax, 1 << 31
    mov cr0, eax
    lgdt [gdtr]
    jmp 8:begin
%else
    jmp begin
%endif
%else
    mov SP, stack
    jmp begin
%endif
.end:

%ifdef LONG
bits 64
%endif
FUNCTION begin
%ifdef PVH
%ifdef LONG
    mov eax, 16
    mov ds, eax
    mov es, eax
    mov ss, eax
%endif
%endif
    xor ebp, ebp
    call spin
.end:

%macro ENTER_FRAME 0
    push FP
    mov FP, SP
%endmacro
%macro LEAF 2 ; name, turns
FUNCTION %1
    ENTER_FRAME
    mov ecx, %2
.again:
    dec ecx
    jnz .again
    pop FP
    ret
.end:
%endmacro

FUNCTION spin
    ENTER_FRAME
.again:
    call work
    call report
    jmp .again
.end:
FUNCTION work
    ENTER_FRAME
    call leaf_a
    call leaf_b
    pop FP
    ret
.end:
FUNCTION report
    ENTER_FRAME
    call leaf_c
    pop FP
    ret
.end:
LEAF leaf_a, 60000
LEAF leaf_b, 30000
LEAF leaf_c, 10000
