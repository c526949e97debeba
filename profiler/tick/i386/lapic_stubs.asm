; SPDX-License-Identifier: Apache-2.0
;
; The gate of the local APIC's timer (cpu_state.h). The stack is as the CPU left
; it, as in parasite.asm. Stack: 16 bytes, and what prof_lapic_turn() uses.

%include "prof_offsets.inc"
%define CPU_REGISTER edi
%include "sample/i386/cpu_here.inc"

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
        push    ecx
%endif
        push    eax
        push    edx
        CPU_HERE eax
        rdtsc
        cmp     eax, [CPU + CPU_LAPIC_DUE]
        sbb     edx, [CPU + CPU_LAPIC_DUE + 4]
        pop     edx
        pop     eax
%if CPUS_MAX > 1
        pop     ecx
        pop     CPU
%endif
        jae     prof_parasite
        push    eax
        xor     eax, eax                ; for the kernel's deadline only
        jmp     prof_lapic_sampled.turn
.end:

prof_lapic_sampled:
        push    eax
        mov     eax, 1
.turn:  push    ecx                     ; what else C may change
        push    edx
        push    eax                     ; the argument
        cld
%if CPUS_MAX == 1
        call    prof_lapic_turn
        test    al, al
        pop     edx
        pop     edx
        pop     ecx
        pop     eax
        jz      .ours
        jmp     [CPU + CPU_LAPIC_HANDLER]
.ours:  iretd
%else
        call    prof_lapic_turn_to      ; the handler of this CPU's gate
        pop     edx
        mov     ecx, [esp + 8]
        mov     [esp + 8], eax
        test    eax, eax
        mov     eax, ecx
        pop     edx
        pop     ecx
        jz      .ours
        ret                             ; to the handler
.ours:  lea     esp, [esp + 4]
        iretd
%endif
.end:

prof_lapic_done:
        push    eax
        mov     eax, [prof_cpus + CPU_LAPIC_AT] ; of the first, the only one
        mov     dword [eax + EOI], 0
        pop     eax
        iretd
.end:

prof_lapic_done_by_msr:
        push    eax
        push    edx
        push    ecx
        xor     eax, eax
        xor     edx, edx
        mov     ecx, MSR_EOI
        wrmsr
        pop     ecx
        pop     edx
        pop     eax
        iretd
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
