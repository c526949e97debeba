; SPDX-License-Identifier: Apache-2.0
;
; What the NMI's gate points at while sampling by NMIs (cpu_state.h). Nothing
; here may fault: the iret of that would let the next NMI in.
;
; The stack as the CPU left it, which is that of whatever was interrupted:
;          [esp + 8]  eflags
;          [esp + 4]  cs
;          [esp]      eip, the sample
; Stack: 12 bytes, at most 256 with what is called below. Thirty-four
; instructions on the way through without callers; where there may be several
; CPUs four bytes more, and forty.

        section .text

%include "tick/i386/stub.inc"

        extern  prof_nmi_turn
        extern  prof_nmi_again
        global  prof_nmi:function (prof_nmi.end - prof_nmi)

%define FLAGS_IF_BYTE 9                 ; of eflags, from eip: bits 8 to 15
%define FLAGS_IF 2
%define IRQS_OFF 1 << 31                ; bit of the time stamp's high half

; all that is written here is in [CPU]
        align   16
prof_nmi:
        ENTER_STUB
        mov     ecx, eax
        sub     ecx, [CPU + NMI_END]
        cmp     ecx, [CPU + NMI_NEAR]
        jb      .none
        inc     dword [CPU + CPU_TICKS]
        test    byte [esp + SAVED + FLAGS_IF_BYTE], FLAGS_IF
        jz      .off
.marked:
        STORE_SAMPLE
        rdtsc                           ; our own cost: TSC now minus TSC then
        mov     [CPU + NMI_END], eax
        sub     eax, ecx
        add     [CPU + CPU_INTERRUPT_CYCLES], eax
        adc     dword [CPU + CPU_INTERRUPT_CYCLES + 4], 0
        RETURN

.off:   or      edx, IRQS_OFF
        jmp     .marked

.none:  cmp     dword [CPU + NMI_NEAR], NMI_STOPPED
        je      .kernel
        inc     dword [CPU + NMI_DUPLICATES]
        cmp     dword [CPU + NMI_AGAIN], 0
        jne     .again
        RETURN

.kernel:
        GO_ON

.again: cld
        call    prof_nmi_again
        RETURN

        RARE_PARTS prof_nmi_turn
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
