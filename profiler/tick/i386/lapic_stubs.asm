; SPDX-License-Identifier: Apache-2.0
;
; The gate of the local APIC's timer (cpu_state.h). The stack is as the CPU left
; it, as in parasite.asm. Stack: 16 bytes, and what prof_lapic_turn() uses.

%include "prof_offsets.inc"

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
        push    eax
        push    edx
        rdtsc
        cmp     eax, [CPU + CPU_LAPIC_DUE]
        sbb     edx, [CPU + CPU_LAPIC_DUE + 4]
        pop     edx
        pop     eax
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
        call    prof_lapic_turn
        test    al, al
        pop     edx
        pop     edx
        pop     ecx
        pop     eax
        jz      .ours
        jmp     [CPU + CPU_LAPIC_HANDLER]
.ours:  iretd
.end:

prof_lapic_done:
        push    eax
        mov     eax, [CPU + CPU_LAPIC_AT]
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
