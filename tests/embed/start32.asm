; SPDX-License-Identifier: Apache-2.0
;
; Start of kernels of 32 bits without paging: Multiboot 1, then a GDT with two
; flat segments and an IDT in which all gates lead to fault_entry. With -DFLAT
; the header is that of a file without headers of its own (objcopy -O binary).

extern  kernel_main
global  start, load_descriptors, idt

section .multiboot
align 4
%ifdef FLAT
extern  image_end
header: dd      0x1badb002, 0x10000, -0x1badb002 - 0x10000
        dd      header, header, 0, image_end, start
%else
        dd      0x1badb002, 0, -0x1badb002
%endif

section .bss
align 16
boot_stack:
        resb    16384
.end:
idt:    resq    256

section .data
gdt:    dq      0, 0x00cf9a000000ffff, 0x00cf92000000ffff
gdt_pointer:
        dw      $ - gdt - 1
        dd      gdt
idt_pointer:
        dw      256 * 8 - 1
        dd      idt

section .text
start:
        mov     esp, boot_stack.end
        xor     ebp, ebp                ; no caller
        mov     eax, fault_entry
        mov     edx, eax
        and     eax, 0xffff
        or      eax, 8 << 16
        mov     dx, 0x8e00
        mov     ecx, 256
.gate:  mov     [idt + ecx * 8 - 8], eax
        mov     [idt + ecx * 8 - 4], edx
        loop    .gate
        call    load_descriptors
        push    ebx                     ; the boot loader's information
        call    kernel_main

; void load_descriptors(void): loads GDT, IDT and segment registers.
load_descriptors:
        lgdt    [gdt_pointer]
        lidt    [idt_pointer]
        jmp     8:.flat
.flat:  mov     eax, 16
        mov     ds, eax
        mov     es, eax
        mov     ss, eax
        ret

fault_entry:
        mov     al, 99
        out     0xf4, al
        hlt
