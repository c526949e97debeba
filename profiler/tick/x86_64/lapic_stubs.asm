; SPDX-License-Identifier: Apache-2.0
;
; The gate of the local APIC's timer (cpu_state.h). The stack is as the CPU left
; it, as in parasite.asm. Stack: 72 bytes, and what prof_lapic_turn() uses.

%include "prof_offsets.inc"

        default rel
        section .text

        extern  prof_cpus
        extern  prof_parasite
        extern  prof_lapic_turn
        global  prof_lapic_enter:function (prof_lapic_enter.end - \
                prof_lapic_enter)
        global  prof_lapic_sampled:function (prof_lapic_sampled.end - \
                prof_lapic_sampled)
        global  prof_lapic_done:function (prof_lapic_done.end - prof_lapic_done)
        global  prof_lapic_done_by_msr:function (prof_lapic_done_by_msr.end - \
                prof_lapic_done_by_msr)

%define CPU prof_cpus                   ; the first, which alone has this source
%define EOI 0xb0                        ; of the registers in memory
%define MSR_EOI 0x80b

        align   16
prof_lapic_enter:
        push    rax
        push    rdx
        rdtsc
        shl     rdx, 32
        or      rax, rdx
        cmp     rax, [CPU + CPU_LAPIC_DUE]
        pop     rdx
        pop     rax
        jae     prof_parasite
        push    rdi
        xor     edi, edi                ; for the kernel's deadline only
        jmp     prof_lapic_sampled.turn
.end:

prof_lapic_sampled:
        push    rdi
        mov     edi, 1
.turn:  push    rax                     ; what else C may change
        push    rcx
        push    rdx
        push    rsi
        push    r8
        push    r9
        push    r10
        push    r11                     ; 5 words of the CPU's, 9 of ours
        cld
        call    prof_lapic_turn
        test    al, al
        pop     r11
        pop     r10
        pop     r9
        pop     r8
        pop     rsi
        pop     rdx
        pop     rcx
        pop     rax
        pop     rdi
        jz      .ours
        jmp     [CPU + CPU_LAPIC_HANDLER]
.ours:  iretq
.end:

prof_lapic_done:
        push    rax
        mov     rax, [CPU + CPU_LAPIC_AT]
        mov     dword [rax + EOI], 0
        pop     rax
        iretq
.end:

prof_lapic_done_by_msr:
        push    rax
        push    rdx
        push    rcx
        xor     eax, eax
        xor     edx, edx
        mov     ecx, MSR_EOI
        wrmsr
        pop     rcx
        pop     rdx
        pop     rax
        iretq
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
