; SPDX-License-Identifier: Apache-2.0
;
; Start of the second CPU: start_cpu() has copied this to a page below 1 MiB,
; where it begins in real mode. Its stack is its own. And the timer's interrupt.

extern  load_descriptors, cpu_main, cpu_stack_end, tick
global  cpu_start, cpu_start_end, tick_entry

section .text
bits 16
cpu_start:
        cli
        mov     ax, cs
        mov     ds, ax
        lgdt    [gdt_pointer - cpu_start]
        mov     eax, cr0
        or      al, 1
        mov     cr0, eax
        jmp     dword 8:cpu_flat
align 8
gdt:    dq      0, 0x00cf9a000000ffff, 0x00cf92000000ffff
gdt_pointer:
        dw      $ - gdt - 1
        dd      CPU_PAGE + gdt - cpu_start
cpu_start_end:

bits 32
cpu_flat:
        mov     eax, 16
        mov     ds, eax
        mov     es, eax
        mov     ss, eax
        mov     esp, [cpu_stack_end]
        xor     ebp, ebp                ; no caller
        call    load_descriptors
        call    cpu_main

tick_entry:
        pusha
        cld
        call    tick
        popa
        iret
