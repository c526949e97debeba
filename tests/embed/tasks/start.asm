; SPDX-License-Identifier: Apache-2.0
;
; Start of the kernel with tasks: Multiboot 1, then pages of 4 MiB without PAE.

extern  kernel_main, timer_interrupt, task_body
global  start, timer_entry, fault_entry, load_idt, stack_switch, task_entry
global  boot_stack, idle_begin, idle_end, wait_for_interrupt

section .multiboot
align 4
        dd      0x1badb002, 0, -0x1badb002

section .bss
align 4096
pages:  resb    4096
boot_stack:
        resb    16384
.end:

section .data
gdt:    dq      0, 0x00cf9a000000ffff, 0x00cf92000000ffff
gdt_pointer:
        dw      $ - gdt - 1
        dd      gdt

section .text
start:
        lgdt    [gdt_pointer]
        jmp     8:.flat
.flat:  mov     eax, 16
        mov     ds, eax
        mov     es, eax
        mov     ss, eax
        mov     esp, boot_stack.end
        mov     eax, 0x83               ; present, writable, 4 MiB
        xor     ecx, ecx
.map:   mov     [pages + ecx * 4], eax
        add     eax, 1 << 22
        inc     ecx
        cmp     ecx, 1024
        jne     .map
        mov     eax, pages
        mov     cr3, eax
        mov     eax, cr4
        or      eax, 0x10               ; PSE
        mov     cr4, eax
        mov     eax, cr0
        or      eax, 0x80000000
        mov     cr0, eax
        push    ebx                     ; the boot loader's information
        call    kernel_main

timer_entry:
        pushad
        cld
        call    timer_interrupt
        popad
        iretd

fault_entry:
        mov     al, 99
        out     0xf4, al
        hlt

; void load_idt(const void *pointer);
load_idt:
        mov     eax, [esp + 4]
        lidt    [eax]
        ret

; void wait_for_interrupt(void);
wait_for_interrupt:
idle_begin:
        sti
        hlt
        ret
idle_end:

; void stack_switch(uint32_t **from, uint32_t *to): pushes what C keeps, stores
; the stack pointer in *from and goes on with the stack (to).
stack_switch:
        mov     eax, [esp + 4]
        mov     edx, [esp + 8]
        push    ebp
        push    ebx
        push    esi
        push    edi
        mov     [eax], esp
        mov     esp, edx
        pop     edi
        pop     esi
        pop     ebx
        pop     ebp
        ret

; Where a new task begins, with its function in ebx.
task_entry:
        call    ebx
        jmp     fault_entry
