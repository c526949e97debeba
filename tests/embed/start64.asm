; SPDX-License-Identifier: Apache-2.0
;
; Start of the kernels of 64 bits. QEMU loads them at their physical addresses
; and jumps to start_physical by the note (PVH): 32 bits, no paging. All symbols
; are virtual; LOW added to one gives its physical address, modulo 2^64. The
; first GiB is mapped twice: at 0 and at -2 GiB.

%include "registers64.inc"

extern  kernel_main, timer_interrupt
global  start_physical, timer_entry, fault_entry, boot_stack

section .note.pvh note alloc
        dd      4, 4, 18        ; XEN_ELFNOTE_PHYS32_ENTRY
        db      "Xen", 0
        dd      start_physical + LOW

section .boot.data write alloc
align 4096
level4: times 512 dq 0
level3_low: times 512 dq 0
level3_high: times 512 dq 0
level2: times 512 dq 0
gdt:    dq      0, 0x00209a0000000000, 0x0000920000000000
gdt_pointer:
        dw      $ - gdt - 1
        dd      gdt + LOW

section .bss
align 16
boot_stack:
        resb    16384
.end:

section .text
bits 32
start_physical:
        mov     esp, boot_stack.end + LOW
        mov     eax, level3_low + LOW + 3
        mov     [level4 + LOW], eax
        mov     eax, level3_high + LOW + 3
        mov     [level4 + LOW + 511 * 8], eax
        mov     eax, level2 + LOW + 3
        mov     [level3_low + LOW], eax
        mov     [level3_high + LOW + 510 * 8], eax
        xor     ecx, ecx
.map:   mov     eax, ecx                ; 1 GiB in pages of 2 MiB
        shl     eax, 21
        or      eax, 0x83
        mov     [level2 + LOW + ecx * 8], eax
        inc     ecx
        cmp     ecx, 512
        jne     .map
        mov     eax, level4 + LOW
        mov     cr3, eax
        mov     eax, cr4
        or      eax, 0x20               ; PAE
        mov     cr4, eax
        mov     ecx, 0xc0000080         ; EFER
        rdmsr
        or      eax, 0x100              ; long mode
        wrmsr
        mov     eax, cr0
        or      eax, 0x80000000
        mov     cr0, eax
        lgdt    [gdt_pointer + LOW]
        jmp     dword 8:start_long + LOW
bits 64
start_long:
        mov     eax, 16
        mov     ds, eax
        mov     es, eax
        mov     ss, eax
        mov     rsp, boot_stack.end
        mov     rax, start_high
        jmp     rax
start_high:
        call    kernel_main

; void timer_interrupt(const struct interrupted *at): see kernel64.h.
timer_entry:
        SAVE_REGISTERS
        mov     rdi, rsp
        call    timer_interrupt
        RESTORE_REGISTERS
        iretq

fault_entry:
        mov     al, 99
        out     0xf4, al
        hlt
