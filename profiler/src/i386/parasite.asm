; SPDX-License-Identifier: Apache-2.0
;
; The parasite: what the timer's gate points at while sampling.
;
;   void prof_parasite(void);      entered by the CPU through an interrupt gate
;
; In:  interrupts off, the stack as the CPU left it:
;          [esp + 8]  eflags
;          [esp + 4]  cs
;          [esp]      eip, the sample
; Out: jumps to the kernel's handler with that same stack and every register as
;      it was; or, for a tick that the kernel did not ask for, acknowledges it
;      and returns from the interrupt.
; Stack: 16 bytes, at most 256 with what is called below.
;
; Thirty-four instructions on the way through where no callers are asked for;
; with them, prof_walk (walk.asm) comes on top. No FPU or SSE state is touched.
; A free entry has no frames; the drain sees to that.
; The protocol of the vector, and the letters (A) and (B'), are in ring.h;
; plain loads and stores acquire and release on x86.

%include "prof_offsets.inc"

        section .text

        extern  prof_hot
        extern  prof_sample_full
        extern  prof_walk
        extern  current_eoi_mechanism
        global  prof_parasite:function (prof_parasite.end - prof_parasite)

%define SAVED 16                        ; bytes pushed before eip

        align   16
prof_parasite:
        push    eax
        push    edx
        push    ecx
        push    esi
        rdtsc                           ; edx:eax = now
        mov     ecx, [prof_hot + HOT_HEAD]      ; ecx = entry to be written
        lea     esi, [ecx + ENTRY_BYTES]        ; esi = the one after it
        cmp     esi, [prof_hot + HOT_END]
        je      .corner
.next:  cmp     esi, [prof_hot + HOT_TAIL]      ; (B')
        je      .full
        mov     [ecx + ENTRY_TSC], eax
        cmp     dword [prof_hot + HOT_DEPTH], 0
        jne     .walk
.walked:
        mov     [ecx + ENTRY_TSC + 4], edx
        push    dword [esp + SAVED]
        pop     dword [ecx + ENTRY_PC]
        mov     [prof_hot + HOT_HEAD], esi      ; (A)
.stored:
        mov     ecx, eax                ; ecx = now, low half
        cmp     eax, [prof_hot + HOT_PASS_DUE]
        sbb     edx, [prof_hot + HOT_PASS_DUE + 4]
        jb      .ours                   ; the kernel did not ask for this one
        mov     eax, [prof_hot + HOT_PASS_PERIOD]
        add     [prof_hot + HOT_PASS_DUE], eax
        adc     dword [prof_hot + HOT_PASS_DUE + 4], 0
        rdtsc                           ; our own cost: TSC now minus TSC then
        sub     eax, ecx
        add     [prof_hot + HOT_INTERRUPT_CYCLES], eax
        adc     dword [prof_hot + HOT_INTERRUPT_CYCLES + 4], 0
        pop     esi
        pop     ecx
        pop     edx
        pop     eax
        jmp     [prof_hot + HOT_NEXT_HANDLER]

.corner:                                ; round the vector's corner
        mov     esi, [prof_hot + HOT_BEGIN]
        jmp     .next

.walk:                                  ; prof_walk(esp then, ebp)
        push    eax
        push    ecx
        push    edx
        cld
        lea     eax, [esp + SAVED + 24] ; behind eip, cs and eflags
        push    ebp
        push    eax
        call    prof_walk
        add     esp, 8
        pop     edx
        pop     ecx
        mov     [ecx + ENTRY_FRAMES], eax
        pop     eax
        jmp     .walked

.full:                                  ; prof_sample_full(pc, now)
        push    edx                     ; now, kept over the call
        push    eax
        cld
        push    edx
        push    eax
        push    dword [esp + SAVED + 16]
        call    prof_sample_full
        add     esp, 12
        pop     eax
        pop     edx
        jmp     .stored

.ours:
        push    ecx
        cld
        call    [current_eoi_mechanism]
        pop     ecx                     ; ecx = now, low half
        rdtsc
        sub     eax, ecx
        add     [prof_hot + HOT_INTERRUPT_CYCLES], eax
        adc     dword [prof_hot + HOT_INTERRUPT_CYCLES + 4], 0
        pop     esi
        pop     ecx
        pop     edx
        pop     eax
        iret
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
