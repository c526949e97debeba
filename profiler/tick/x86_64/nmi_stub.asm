; SPDX-License-Identifier: Apache-2.0
;
; What the NMI's gate points at while sampling by NMIs (cpu_state.h). Nothing
; here may fault: the iret of that would let the next NMI in.
;
; The stack as the CPU left it, which is the NMI's own where the gate has one:
;          [rsp + 32]  ss          [rsp + 8]  cs
;          [rsp + 24]  rsp         [rsp]      rip, the sample
;          [rsp + 16]  rflags
; Stack: 32 bytes, at most 256 with what is called below. Thirty-six
; instructions on the way through without callers; where there may be several
; CPUs eight bytes more, and forty-three.

%include "prof_offsets.inc"
%include "sample/x86_64/cpu_here.inc"

        default rel
        section .text

        extern  prof_sample_full
%if WITH_CALLERS
        extern  prof_walk_here
%endif
        extern  prof_nmi_turn
        extern  prof_nmi_again
        global  prof_nmi:function (prof_nmi.end - prof_nmi)

; all that is written here is in [CPU]
%if CPUS_MAX == 1
%define SAVED 32                        ; bytes pushed before rip
%define ALIGN_C 8                       ; more than that, for calls of C
%else
%define SAVED 40
%define ALIGN_C 0
%endif
%define FLAGS_IF_BYTE 17                ; of rflags, from rip: bits 8 to 15
%define FLAGS_IF 2
%define IRQS_OFF 63                     ; bit of the time stamp

%macro  RETURN 0
        pop     rsi
        pop     rcx
        pop     rdx
        pop     rax
%if CPUS_MAX > 1
        pop     CPU
%endif
        iretq
%endmacro

        align   16
prof_nmi:
%if CPUS_MAX > 1
        push    CPU
%endif
        push    rax
        push    rdx
        push    rcx
        push    rsi
        CPU_HERE eax, rax
        rdtsc                           ; rdx = now
        mov     ecx, eax
        sub     ecx, [CPU + NMI_END]
        cmp     ecx, [CPU + NMI_NEAR]
        jb      .none
        shl     rdx, 32
        or      rdx, rax
        inc     dword [CPU + CPU_TICKS]
        mov     rcx, [CPU + CPU_HEAD]   ; rcx = entry to be written
        lea     rsi, [rcx + ENTRY_BYTES]        ; rsi = the one after it
        cmp     rsi, [CPU + CPU_LIMIT]
        je      .limit
.room:
        test    byte [rsp + SAVED + FLAGS_IF_BYTE], FLAGS_IF
        jz      .off
.marked:
        mov     rax, [rsp + SAVED]
        mov     [rcx + ENTRY_PC], rax
        mov     [rcx + ENTRY_TSC], rdx
%if !ENTRIES_ARE_CLEARED
        mov     dword [rcx + ENTRY_FRAMES], 0   ; and the divisor
%endif
%if WITH_CALLERS
        cmp     dword [CPU + CPU_DEPTH], 0
        jne     .walk
%endif
.walked:
        mov     [CPU + CPU_HEAD], rsi   ; (A)
.stored:
        dec     dword [CPU + CPU_TICKS_LEFT]
        jz      .turn
.turned:
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
        pop     rsi
        pop     rcx
        pop     rdx
%if CPUS_MAX == 1
        pop     rax
        jmp     [CPU + CPU_NEXT_HANDLER]
%else
        mov     rax, [CPU + CPU_NEXT_HANDLER]
        mov     CPU, [rsp + 8]
        mov     [rsp + 8], rax
        pop     rax
        ret                             ; to the handler
%endif

.limit:                                 ; the corner, or what tail was
        cmp     rsi, [CPU + CPU_END]
        jne     .look
        mov     rsi, [CPU + CPU_BEGIN]
.look:  mov     rax, [CPU + CPU_TAIL]   ; (B')
        cmp     rax, rsi
        je      .full
        ja      .ahead
        mov     rax, [CPU + CPU_END]
.ahead: mov     [CPU + CPU_LIMIT], rax
        jmp     .room

%macro  SAVE_THE_REST 0                 ; what else C may change
        push    rdi
        push    r8
        push    r9
        push    r10
        push    r11
        cld
%endmacro

%macro  RESTORE_THE_REST 0
        pop     r11
        pop     r10
        pop     r9
        pop     r8
        pop     rdi
%endmacro

%if WITH_CALLERS
.walk:                                  ; eax = prof_walk(rsp then, rbp)
%if WITH_USER
        test    byte [rsp + SAVED + 8], 3       ; cs
        jnz     .user
%endif
        push    rsi
        push    rdi
        push    r8
        cld
        mov     rsi, [rsp + SAVED + 24 + 24]
        mov     rdx, rbp
        call    prof_walk_here
        pop     r8
        pop     rdi
        pop     rsi
        mov     rcx, [CPU + CPU_HEAD]
        mov     edx, [rcx + ENTRY_TSC]
        mov     [rcx + ENTRY_FRAMES], eax
        jmp     .walked
%endif

%if WITH_USER
.user:  movzx   eax, byte [CPU + CPU_SPACE]
        add     rax, USER_BASE                  ; all that is kept
        mov     [rcx + ENTRY_PC], rax
        mov     byte [CPU + CPU_USER_SEEN], 1
        jmp     .walked
%endif

.full:                                  ; prof_sample_full(pc, now)
        SAVE_THE_REST
        push    rdx                     ; now, kept over the call
        sub     rsp, ALIGN_C            ; calls want rsp on 16 bytes
        mov     rdi, [rsp + SAVED + ALIGN_C + 48]
        mov     rsi, rdx
%if WITH_USER
        test    byte [rsp + SAVED + ALIGN_C + 48 + 8], 3
        jz      .in_kernel
        movzx   edi, byte [CPU + CPU_SPACE]
        add     rdi, USER_BASE
.in_kernel:
%endif
        call    prof_sample_full
        add     rsp, ALIGN_C
        pop     rdx
        RESTORE_THE_REST
        jmp     .stored

.turn:                                  ; prof_nmi_turn(now)
        SAVE_THE_REST
        push    rdx
        sub     rsp, ALIGN_C
        mov     edi, edx
        call    prof_nmi_turn
        add     rsp, ALIGN_C
        pop     rdx
        RESTORE_THE_REST
        jmp     .turned

.again: SAVE_THE_REST
        sub     rsp, 8 - ALIGN_C        ; one word less than above
        call    prof_nmi_again
        add     rsp, 8 - ALIGN_C
        RESTORE_THE_REST
        RETURN
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
