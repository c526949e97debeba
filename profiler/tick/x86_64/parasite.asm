; SPDX-License-Identifier: Apache-2.0
;
; The parasite: what the timer's gate points at while sampling (cpu_state.h).
;
; The stack as the CPU left it:
;          [rsp + 32]  ss          [rsp + 8]  cs
;          [rsp + 24]  rsp         [rsp]      rip, the sample
;          [rsp + 16]  rflags
; Stack: 24 bytes, at most 256 with what is called below. Thirty-one
; instructions on the way through without callers; where there may be several
; CPUs eight bytes more, and thirty-nine.

        default rel
        section .text

%include "tick/x86_64/stub.inc"

        extern  prof_jitter_turn
        extern  current_eoi_mechanism
        global  prof_parasite:function (prof_parasite.end - prof_parasite)

; all that is written here is in [CPU]
        align   16
prof_parasite:
        ENTER_STUB
        shl     rdx, 32
        or      rdx, rax
        inc     dword [CPU + CPU_TICKS]
        STORE_SAMPLE
        cmp     rdx, [CPU + CPU_PASS_DUE]
        jb      .ours                   ; the kernel did not ask for this one
        mov     rax, [CPU + CPU_PASS_PERIOD]
        add     [CPU + CPU_PASS_DUE], rax
        mov     ecx, edx                ; our own cost: TSC now minus TSC then
        rdtsc
        sub     eax, ecx
        add     [CPU + CPU_INTERRUPT_CYCLES], rax
        GO_ON

        RARE_PARTS prof_jitter_turn

.ours:
        SAVE_THE_REST
        push    rdx
        sub     rsp, ALIGN_C
        call    [current_eoi_mechanism]
        add     rsp, ALIGN_C
        pop     rcx                     ; rcx = now
        RESTORE_THE_REST
        rdtsc
        sub     eax, ecx
        add     [CPU + CPU_INTERRUPT_CYCLES], rax
        RETURN
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
