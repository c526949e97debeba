; SPDX-License-Identifier: Apache-2.0
;
; The walk over the frames of whatever was interrupted; frames.h has the
; contract, the layout of what is written, and how bounds are tested.
;
;   uint32_t prof_walk(uintptr_t sp, uintptr_t fp);
;   prof_walk_here: the same for the stubs, in: rsi = sp, rdx = fp, and CPU
;
; In:  rdi = sp, rsi = fp of the interrupted code; interrupts off, DF clear
; Out: eax = words written, and why they are not more
; Clobbers rcx, rdx, rsi, rdi and r8, prof_walk() also r9. Uses 8 bytes of
; stack, 24 if fewer words lie above sp than are kept, and 200 where it asks
; bounds.c.

%include "prof_offsets.inc"
%include "sample/x86_64/cpu_here.inc"

        default rel
        section .text

        global  prof_walk:function (prof_walk_here.end - prof_walk)
        global  prof_walk_here
        extern  prof_bounds_find, prof_bounds_is_end

%define WORD 8
%define SHIFT 3
%define BEGAN 0                         ; [rsp]: where this sample's words began

%macro  GIVE_WORDS 0                            ; eax = how many
        mov     eax, edi
        pop     rdi                             ; BEGAN
        sub     eax, edi
        shr     eax, 2
        add     [CPU + FRAMES_WRITTEN], eax     ; (A)
%endmacro

%macro  CALL_C 1                ; eax = %1(rsi, rax), all else kept but r8
        push    rcx
        push    rdx
        push    rsi
        push    rdi
        push    r9
        push    r10
        push    r11
        push    rbp
        mov     rbp, rsp
        and     rsp, -16
        mov     rdi, rsi
        mov     rsi, rax
        call    %1
        mov     rsp, rbp
        pop     rbp
        pop     r11
        pop     r10
        pop     r9
        pop     rdi
        pop     rsi
        pop     rdx
        pop     rcx
%endmacro

        align   16
prof_walk:
%if CPUS_MAX > 1
        mov     r8, rsi                         ; the macro may change rdx
        CPU_HERE eax, rax
        mov     rsi, r8
%endif
        mov     rdx, rsi
        mov     rsi, rdi
prof_walk_here:
        mov     eax, [CPU + FRAMES_WRITTEN]
        mov     ecx, [CPU + FRAMES_READ]        ; (B')
        sub     ecx, eax
        add     ecx, [CPU + FRAMES_MOST]        ; ecx = frames that there is
        jle     .full                           ;       room for
        cmp     ecx, [CPU + CPU_DEPTH]
        cmova   ecx, [CPU + CPU_DEPTH]
        and     eax, [CPU + FRAMES_MASK]
        mov     rdi, [CPU + FRAMES_WORDS]
        lea     rdi, [rdi + rax * 4]            ; rdi = where words go
        push    rdi                             ; BEGAN

.bounds:
        mov     rax, [CPU + CPU_STACK]  ; is sp in the stack?
        mov     r8, [rax + STACK_LAST_FRAME]    ; r8 = last place of a frame
        cmp     rsi, [rax + STACK_BEGIN]
        jb      .lost
        cmp     rsi, [rax + STACK_LAST_KEPT]
        ja      .near
%rep FRAMES_KEPT
        movsq
%endrep

.kept:  lea     rax, [rsi - FRAMES_KEPT * WORD] ; is fp?
        cmp     rdx, rax
        jb      .low
        mov     rsi, rdx                        ; rsi = this frame
        ror     rdx, SHIFT                      ; rdx = the same, turned
        sub     r8, rdx                         ; r8 = left
        jb      .first

.frame: lodsq                                   ; the next frame
        movsd                                   ; the return address
        ror     rax, SHIFT
        sub     rdx, rax
        add     r8, rdx
        jnc     .stop
        mov     rdx, rax
        lea     rsi, [rax * WORD]
        loop    .frame

        lea     rax, [rdi - FRAMES_HEAD * 4]    ; all that was asked for, or
        sub     rax, [rsp + BEGAN]              ; all that there was room for?
        shr     eax, 2
        mov     ecx, WALK_DEPTH << WALK_STOP_SHIFT
        cmp     eax, [CPU + CPU_DEPTH]
        je      .done
        mov     ecx, WALK_ROOM << WALK_STOP_SHIFT
        jmp     .done

.low:   ror     rdx, SHIFT
.first: mov     rax, rdx                        ; fp itself, as "next"
        or      rdx, -1                         ; which does not rise
.stop:  test    rax, rax                        ; rax = next, turned
        jz      .end_of_stack                   ; zero: the outermost frame
        mov     ecx, WALK_UNALIGNED << WALK_STOP_SHIFT
        mov     r8, rax
        shr     r8, 64 - SHIFT
        jnz     .early
        mov     ecx, WALK_FALLING << WALK_STOP_SHIFT
        shl     rax, SHIFT
        mov     r8, [CPU + CPU_STACK]
        cmp     rax, [r8 + STACK_BEGIN]
        jb      .outside
        test    rdx, rdx                        ; rdx = this - next
        jns     .early
.outside:
        mov     ecx, WALK_OUTSIDE << WALK_STOP_SHIFT
.early: CALL_C  prof_bounds_is_end              ; unless it is complete
        test    al, al
        jnz     .end_of_stack
.done:  GIVE_WORDS
        or      eax, ecx
        ret

.end_of_stack:
        GIVE_WORDS
        ret

.full:  mov     eax, WALK_ROOM << WALK_STOP_SHIFT
        ret

.near:  shl     r8, SHIFT                       ; not even two words?
        cmp     rsi, r8
        ja      .lost
        push    rcx
        push    rsi
        lea     rcx, [r8 + 2 * WORD]
        sub     rcx, rsi
        shr     rcx, SHIFT                      ; rcx = words that there are
        mov     r8d, FRAMES_KEPT
        sub     r8d, ecx
        rep movsq
        mov     ecx, r8d
        xor     eax, eax
        rep stosq
        pop     rsi
        pop     rcx
        mov     r8, [CPU + CPU_STACK]
        mov     r8, [r8 + STACK_LAST_FRAME]
        add     rsi, FRAMES_KEPT * WORD
        jmp     .kept

.lost:  CALL_C  prof_bounds_find                ; is it in another stack?
        test    al, al
        jnz     .bounds
        test    rdx, rdx                        ; nothing may be read
        jz      .end_of_stack
        mov     rax, rdx
        jmp     .outside
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
