; SPDX-License-Identifier: Apache-2.0
;
; What the NMI's gate points at while sampling by NMIs (cpu_state.h). Nothing
; here may fault: the iret of that would let the next NMI in.
;
; The stack as the CPU left it, which is the NMI's own where the gate has one:
;          [rsp + 32]  ss          [rsp + 8]  cs
;          [rsp + 24]  rsp         [rsp]      rip, the sample
;          [rsp + 16]  rflags
; Stack: 24 bytes, at most 256 with what is called below. Thirty-four
; instructions on the way through without callers; where there may be several
; CPUs eight bytes more, and forty-one.

        default rel
        section .text

%include "tick/x86_64/stub.inc"

        extern  prof_nmi_turn
        extern  prof_nmi_again
        global  prof_nmi:function (prof_nmi.end - prof_nmi)

%define FLAGS_IF_BYTE 17                ; of rflags, from rip: bits 8 to 15
%define FLAGS_IF 2
%define IRQS_OFF 63                     ; bit of the time stamp

; all that is written here is in [CPU]
        align   16
prof_nmi:
        ENTER_STUB
        mov     ecx, eax
        sub     ecx, [CPU + NMI_END]
        cmp     ecx, [CPU + NMI_NEAR]
        jb      .none
        shl     rdx, 32
        or      rdx, rax
        inc     dword [CPU + CPU_TICKS]
        test    byte [rsp + SAVED + FLAGS_IF_BYTE], FLAGS_IF
        jz      .off
.marked:
        STORE_SAMPLE
        mov     ecx, edx                ; our own cost: TSC now minus TSC then
        rdtsc
        mov     [CPU + NMI_END], eax
        sub     eax, ecx
        add     [CPU + CPU_INTERRUPT_CYCLES], rax
        RETURN

.off:   bts     rdx, IRQS_OFF
        jmp     .marked

.none:  cmp     dword [CPU + NMI_NEAR], NMI_STOPPED
        je      .kernel
        inc     dword [CPU + NMI_DUPLICATES]
        cmp     dword [CPU + NMI_AGAIN], 0
        jne     .again
        RETURN

.kernel:
        GO_ON

        RARE_PARTS prof_nmi_turn

.again: SAVE_THE_REST
        sub     rsp, 8 - ALIGN_C        ; one word less than above
        call    prof_nmi_again
        add     rsp, 8 - ALIGN_C
        RESTORE_THE_REST
        RETURN
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
