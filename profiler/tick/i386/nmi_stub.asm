; SPDX-License-Identifier: Apache-2.0
;
; What the NMI's gate points at while sampling by NMIs (cpu_state.h). Nothing
; here may fault: the iret of that would let the next NMI in.
;
; The stack as the CPU left it, which is that of whatever was interrupted:
;          [esp + 8]  eflags
;          [esp + 4]  cs
;          [esp]      eip, the sample
; Stack: 16 bytes, at most 256 with what is called below. Thirty-six
; instructions on the way through without callers; where there may be several
; CPUs four bytes more, and forty-two.

%include "prof_offsets.inc"
%define CPU_REGISTER edi
%include "sample/i386/cpu_here.inc"

        section .text

        extern  prof_sample_full
%if WITH_CALLERS
        extern  prof_walk
%endif
        extern  prof_nmi_turn
        extern  prof_nmi_again
        global  prof_nmi:function (prof_nmi.end - prof_nmi)

; all that is written here is in [CPU]
%if CPUS_MAX == 1
%define SAVED 16                        ; bytes pushed before eip
%else
%define SAVED 20
%endif
%define FLAGS_IF_BYTE 9                 ; of eflags, from eip: bits 8 to 15
%define FLAGS_IF 2
%define IRQS_OFF 1 << 31                ; bit of the time stamp's high half

%macro  RETURN 0
        pop     esi
        pop     ecx
        pop     edx
        pop     eax
%if CPUS_MAX > 1
        pop     CPU
%endif
        iret
%endmacro

        align   16
prof_nmi:
%if CPUS_MAX > 1
        push    CPU
%endif
        push    eax
        push    edx
        push    ecx
        push    esi
        CPU_HERE eax
        rdtsc                           ; edx:eax = now
        mov     ecx, eax
        sub     ecx, [CPU + NMI_END]
        cmp     ecx, [CPU + NMI_NEAR]
        jb      .none
        inc     dword [CPU + CPU_TICKS]
        mov     ecx, [CPU + CPU_HEAD]   ; ecx = entry to be written
        lea     esi, [ecx + ENTRY_BYTES]        ; esi = the one after it
        cmp     esi, [CPU + CPU_LIMIT]
        je      .limit
.room:
        test    byte [esp + SAVED + FLAGS_IF_BYTE], FLAGS_IF
        jz      .off
.marked:
        mov     [ecx + ENTRY_TSC], eax
%if !ENTRIES_ARE_CLEARED
        mov     dword [ecx + ENTRY_FRAMES], 0   ; and the divisor
%endif
%if WITH_CALLERS
        cmp     dword [CPU + CPU_DEPTH], 0
        jne     .walk
%endif
.walked:
        mov     [ecx + ENTRY_TSC + 4], edx
        push    dword [esp + SAVED]
        pop     dword [ecx + ENTRY_PC]
        mov     [CPU + CPU_HEAD], esi   ; (A)
.stored:
        dec     dword [CPU + CPU_TICKS_LEFT]
        jz      .turn
.turned:
        mov     ecx, eax                ; our own cost: TSC now minus TSC then
        rdtsc
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
        pop     esi
        pop     ecx
        pop     edx
%if CPUS_MAX == 1
        pop     eax
        jmp     [CPU + CPU_NEXT_HANDLER]
%else
        mov     eax, [CPU + CPU_NEXT_HANDLER]
        mov     CPU, [esp + 4]
        mov     [esp + 4], eax
        pop     eax
        ret                             ; to the handler
%endif

.again: cld
        call    prof_nmi_again
        RETURN

.limit:                                 ; the corner, or what tail was
        cmp     esi, [CPU + CPU_END]
        jne     .look
        mov     esi, [CPU + CPU_BEGIN]
.look:  push    eax
        mov     eax, [CPU + CPU_TAIL]   ; (B')
        cmp     eax, esi
        je      .full
        ja      .ahead
        mov     eax, [CPU + CPU_END]
.ahead: mov     [CPU + CPU_LIMIT], eax
        pop     eax
        jmp     .room

%if WITH_CALLERS
.walk:                                  ; prof_walk(esp then, ebp)
%if WITH_USER
        test    byte [esp + SAVED + 4], 3       ; cs
        jnz     .user
%endif
        push    eax
        push    ecx
        push    edx
        cld
        lea     eax, [esp + SAVED + 24] ; above eip, cs and eflags
        push    ebp
        push    eax
        call    prof_walk
        add     esp, 8
        pop     edx
        pop     ecx
        mov     [ecx + ENTRY_FRAMES], eax
        pop     eax
        jmp     .walked
%endif

%if WITH_USER
.user:  mov     [ecx + ENTRY_TSC + 4], edx
        push    eax
        movzx   eax, byte [CPU + CPU_SPACE]
        add     eax, USER_BASE                  ; all that is kept
        mov     [ecx + ENTRY_PC], eax
        pop     eax
        mov     byte [CPU + CPU_USER_SEEN], 1
        mov     [CPU + CPU_HEAD], esi   ; (A)
        jmp     .stored
%endif

.full:  pop     eax                     ; prof_sample_full(pc, now)
        push    edx                     ; now, kept over the call
        push    eax
        cld
        push    edx
        push    eax
        push    dword [esp + SAVED + 16]
%if WITH_USER
        test    byte [esp + SAVED + 20 + 4], 3
        jz      .in_kernel
        movzx   ecx, byte [CPU + CPU_SPACE]
        add     ecx, USER_BASE
        mov     [esp], ecx
.in_kernel:
%endif
        call    prof_sample_full
        add     esp, 12
        pop     eax
        pop     edx
        jmp     .stored

.turn:  push    edx                     ; prof_nmi_turn(now)
        push    eax                     ; now, kept over the call
        cld
        push    eax
        call    prof_nmi_turn
        add     esp, 4
        pop     eax
        pop     edx
        jmp     .turned
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
