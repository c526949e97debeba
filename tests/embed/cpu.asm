; SPDX-License-Identifier: Apache-2.0
;
; Start of another CPU, for kernels of both widths: start_cpu() (cpus.h) has
; copied this to a page below 1 MiB, where it begins in real mode, with the
; page tables, for 64 bits, and the stack in the page's last words.

CPU_ROOT equ 0xff0              ; as in cpus.h
CPU_STACK equ 0xff8

extern  cpu_entry
global  cpu_start, cpu_start_end

section .text
bits 16
cpu_start:
        cli
        mov     ax, cs
        mov     ds, ax
%ifidn __OUTPUT_FORMAT__, elf64
        mov     eax, cr4
        or      eax, 0x20               ; PAE
        mov     cr4, eax
        mov     eax, [CPU_ROOT]
        mov     cr3, eax
        mov     ecx, 0xc0000080         ; EFER
        rdmsr
        or      eax, 0x100              ; long mode
        wrmsr
%define ON 0x80000001                   ; paging, protected mode
%define CODE 0x00209a0000000000
%define WIDTH 64
%define ACC rax
%define SP rsp
%else
%define ON 1
%define CODE 0x00cf9a000000ffff
%define WIDTH 32
%define ACC eax
%define SP esp
%endif
        lgdt    [gdt_pointer - cpu_start]
        mov     eax, cr0
        or      eax, ON
        mov     cr0, eax
        jmp     dword 8:CPU_PAGE + cpu_flat - cpu_start
align 8
gdt:    dq      0, CODE, 0x00cf92000000ffff
gdt_pointer:
        dw      $ - gdt - 1
        dd      CPU_PAGE + gdt - cpu_start

bits WIDTH
cpu_flat:
        mov     eax, 16
        mov     ds, eax
        mov     es, eax
        mov     ss, eax
        mov     SP, [CPU_PAGE + CPU_STACK]
        xor     ebp, ebp                ; no caller
        mov     ACC, cpu_entry
        push    0                       ; nor an address
        jmp     ACC
cpu_start_end:
