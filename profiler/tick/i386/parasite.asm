; SPDX-License-Identifier: Apache-2.0
;
; The parasite: what the timer's gate points at while sampling (cpu_state.h).
;
; The stack as the CPU left it:
;          [esp + 8]  eflags
;          [esp + 4]  cs
;          [esp]      eip, the sample
; Stack: 12 bytes, at most 256 with what is called below. Thirty-three
; instructions on the way through without callers; where there may be several
; CPUs four bytes more, and forty.

        section .text

%include "tick/i386/stub.inc"

        extern  prof_jitter_turn
        extern  current_eoi_mechanism
        global  prof_parasite:function (prof_parasite.end - prof_parasite)

; all that is written here is in [CPU]
        align   16
prof_parasite:
        ENTER_STUB
        inc     dword [CPU + CPU_TICKS]
        STORE_SAMPLE
        cmp     eax, [CPU + CPU_PASS_DUE]
        sbb     edx, [CPU + CPU_PASS_DUE + 4]
        jb      .ours                   ; the kernel did not ask for this one
        mov     eax, [CPU + CPU_PASS_PERIOD]
        add     [CPU + CPU_PASS_DUE], eax
        adc     dword [CPU + CPU_PASS_DUE + 4], 0
        rdtsc                           ; our own cost: TSC now minus TSC then
        sub     eax, ecx
        add     [CPU + CPU_INTERRUPT_CYCLES], eax
        adc     dword [CPU + CPU_INTERRUPT_CYCLES + 4], 0
        GO_ON

        RARE_PARTS prof_jitter_turn

.ours:
        push    ecx
        cld
        call    [current_eoi_mechanism]
        pop     ecx                     ; ecx = now, low half
        rdtsc
        sub     eax, ecx
        add     [CPU + CPU_INTERRUPT_CYCLES], eax
        adc     dword [CPU + CPU_INTERRUPT_CYCLES + 4], 0
        RETURN
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
