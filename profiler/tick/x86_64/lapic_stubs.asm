; SPDX-License-Identifier: Apache-2.0
;
; The gate of the local APIC's timer (cpu_state.h). The stack is as the CPU left
; it, as in parasite.asm. Stack: 72 bytes, and what prof_lapic_turn() uses.

%include "prof_offsets.inc"
%include "sample/x86_64/cpu_here.inc"

        default rel
        section .text

%if CPUS_MAX > 1
        extern  prof_cpus
        extern  prof_lapic_turn_to
%else
        extern  prof_lapic_turn
%endif
        extern  prof_parasite
        global  prof_lapic_enter:function (prof_lapic_enter.end - \
                prof_lapic_enter)
        global  prof_lapic_sampled:function (prof_lapic_sampled.end - \
                prof_lapic_sampled)
        global  prof_lapic_done:function (prof_lapic_done.end - prof_lapic_done)
        global  prof_lapic_done_by_msr:function (prof_lapic_done_by_msr.end - \
                prof_lapic_done_by_msr)

%define EOI 0xb0                        ; of the registers in memory
%define MSR_EOI 0x80b

        align   16
prof_lapic_enter:
%if CPUS_MAX > 1
        push    CPU
        push    rcx
%endif
        push    rax
        push    rdx
        CPU_HERE eax, rax
        rdtsc
        shl     rdx, 32
        or      rax, rdx
        cmp     rax, [CPU + CPU_LAPIC_DUE]
        pop     rdx
        pop     rax
%if CPUS_MAX > 1
        pop     rcx
        pop     CPU
%endif
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
%if CPUS_MAX == 1
        call    prof_lapic_turn
        test    al, al
%else
        call    prof_lapic_turn_to      ; the handler of this CPU's gate
        mov     rdi, [rsp + 64]
        mov     [rsp + 64], rax
        test    rax, rax
%endif
        pop     r11
        pop     r10
        pop     r9
        pop     r8
        pop     rsi
        pop     rdx
        pop     rcx
        pop     rax
%if CPUS_MAX == 1
        pop     rdi
        jz      .ours
        jmp     [CPU + CPU_LAPIC_HANDLER]
.ours:  iretq
%else
        jz      .ours
        ret                             ; to the handler
.ours:  lea     rsp, [rsp + 8]
        iretq
%endif
.end:

prof_lapic_done:
        push    rax
        mov     rax, [prof_cpus + CPU_LAPIC_AT] ; of the first, the only one
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
