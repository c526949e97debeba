; SPDX-License-Identifier: Apache-2.0
;
; Starts plain.c from Multiboot: with LONG defined in 64-bit mode, with a
; page table for the first 4 MiB. Everything is in the file, so the addresses
; in the header load it, whatever its format.

section .text
bits 32
extern work
global enter:function

%define MAGIC 0x1badb002
%define FLAGS 0x10000                   ; the addresses are those below

align 4
header: dd MAGIC, FLAGS, -(MAGIC + FLAGS)
        dd header, header, 0, 0, enter

enter:
        mov     esp, stack.top
        xor     ebp, ebp                ; the outermost frame
%ifdef LONG
        mov     eax, cr4
        or      eax, 1 << 5             ; PAE
        mov     cr4, eax
        mov     eax, tables
        mov     cr3, eax
        mov     ecx, 0xc0000080         ; EFER
        rdmsr
        or      eax, 1 << 8             ; LME
        wrmsr
        mov     eax, cr0
        or      eax, 1 << 31 | 1        ; PG, PE
        mov     cr0, eax
        lgdt    [gdt.pointer]
        jmp     8:.long
bits 64
.long:
%endif
        call    work
.end:   hlt
        jmp     .end

section .data
%ifdef LONG
align 4096
tables: dq      tables + 0x1000 + 3     ; present, writable
        times   511 dq 0
        dq      tables + 0x2000 + 3
        times   511 dq 0
        dq      0x83, 0x200083          ; of 2 MiB
        times   510 dq 0
gdt:    dq      0, 0x00209a0000000000   ; 64-bit code
.pointer:
        dw      15
        dd      gdt
%endif
align 16
stack:  times   16384 db 0
.top:
