; SPDX-License-Identifier: Apache-2.0
;
; Start of another CPU: kernel.c has copied this to a page below 1 MiB, where it
; begins in real mode, with the page tables and the stack in the page's last
; words. Then the switch between threads, the CPU's halt, and the handler of
; NMIs that come when nothing is sampled.

CPU_ROOT equ 0xff0              ; the page's last words, as in kernel.c
CPU_STACK equ 0xff8

extern  cpu_entry
global  cpu_start, cpu_start_end, switch_stack, arch_idle, nmi_entry

section .text
bits 16
cpu_start:
        cli
        mov     ax, cs
        mov     ds, ax
        mov     eax, cr4
        or      eax, 0x20               ; PAE
        mov     cr4, eax
        mov     eax, [CPU_ROOT]
        mov     cr3, eax
        mov     ecx, 0xc0000080         ; EFER
        rdmsr
        or      eax, 0x100              ; long mode
        wrmsr
        lgdt    [gdt_pointer - cpu_start]
        mov     eax, cr0
        or      eax, 0x80000001
        mov     cr0, eax
        jmp     dword 8:CPU_PAGE + cpu_long - cpu_start
align 8
gdt:    dq      0, 0x00209a0000000000, 0x0000920000000000
gdt_pointer:
        dw      $ - gdt - 1
        dd      CPU_PAGE + gdt - cpu_start

bits 64
cpu_long:
        mov     eax, 16
        mov     ds, eax
        mov     es, eax
        mov     ss, eax
        mov     rsp, [CPU_PAGE + CPU_STACK]
        xor     ebp, ebp                ; no caller
        mov     rax, cpu_entry
        push    0                       ; nor an address
        jmp     rax
cpu_start_end:

; void switch_stack(uintptr_t *from, uintptr_t to): stores the stack pointer in
; *(from) and returns to whoever called this with (to) stored.
switch_stack:
        push    rbx
        push    rbp
        push    r12
        push    r13
        push    r14
        push    r15
        mov     [rdi], rsp
        mov     rsp, rsi
        pop     r15
        pop     r14
        pop     r13
        pop     r12
        pop     rbp
        pop     rbx
        ret

arch_idle:
        sti
        hlt
        ret
        align   16

nmi_entry:
        iretq
