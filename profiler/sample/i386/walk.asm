; SPDX-License-Identifier: Apache-2.0
;
; The walk over the frames of whatever was interrupted; frames.h has the
; contract, the layout of what is written, and how bounds are tested.
;
;   uint32_t prof_walk(uintptr_t sp, uintptr_t fp);
;
; In:  [esp + 4] = sp, [esp + 8] = fp of the interrupted code; interrupts off,
;      DF clear
; Out: eax = words written, and why they are not more
; Clobbers ecx and edx. Uses 20 bytes of stack, 100 where it asks bounds.c;
; where there may be several CPUs four more.

%include "prof_offsets.inc"
%define CPU_REGISTER ebp
%include "sample/i386/cpu_here.inc"

        section .text

        extern  prof_bounds_find, prof_bounds_is_end
        global  prof_walk:function (prof_walk.end - prof_walk)

%define WORD 4
%define SHIFT 2
%define BEGAN 0                         ; [esp]: where this sample's words began
%if CPUS_MAX == 1
%define SP 20                           ; after five pushes, the arguments
%define FP 24
%else
%define SP 24                           ; after six
%define FP 28
%endif

%macro  CALL_C 1                        ; eax = %1(esi, eax), all else kept
        push    ecx
        push    edx
        push    eax
        push    esi
        call    %1
        add     esp, 8
        pop     edx
        pop     ecx
%endmacro

        align   16
prof_walk:
        push    ebx
        push    esi
        push    edi
%if CPUS_MAX > 1
        push    CPU
        CPU_HERE eax
%endif
        mov     eax, [CPU + FRAMES_WRITTEN]
        mov     ecx, [CPU + FRAMES_READ]        ; (B')
        sub     ecx, eax
        add     ecx, [CPU + FRAMES_MOST]        ; ecx = frames that there is
        jle     .full                           ;       room for
        cmp     ecx, [CPU + CPU_DEPTH]
        cmova   ecx, [CPU + CPU_DEPTH]
        and     eax, [CPU + FRAMES_MASK]
        mov     edi, [CPU + FRAMES_WORDS]
        lea     edi, [edi + eax * 4]            ; edi = where words go
        push    edi                             ; BEGAN
        mov     esi, [esp + SP]                 ; esi = sp
        mov     edx, [esp + FP]                 ; edx = fp

.bounds:
        mov     eax, [CPU + CPU_STACK]  ; is sp in the stack?
        mov     ebx, [eax + STACK_LAST_FRAME]   ; ebx = last place of a frame
        cmp     esi, [eax + STACK_BEGIN]
        jb      .lost
        cmp     esi, [eax + STACK_LAST_KEPT]
        ja      .near
%rep FRAMES_KEPT
        movsd
%endrep

.kept:  cmp     edx, [esp + SP]                 ; is fp?
        jb      .low
        mov     esi, edx                        ; esi = this frame
        ror     edx, SHIFT                      ; edx = the same, turned
        sub     ebx, edx                        ; ebx = left
        jb      .first

.frame: lodsd                                   ; the next frame
        movsd                                   ; the return address
        ror     eax, SHIFT
        sub     edx, eax
        add     ebx, edx
        jnc     .stop
        mov     edx, eax
        lea     esi, [eax * WORD]
        loop    .frame

        lea     eax, [edi - FRAMES_HEAD * 4]    ; all that was asked for, or
        sub     eax, [esp + BEGAN]              ; all that there was room for?
        shr     eax, 2
        mov     ecx, WALK_DEPTH << WALK_STOP_SHIFT
        cmp     eax, [CPU + CPU_DEPTH]
        je      .done
        mov     ecx, WALK_ROOM << WALK_STOP_SHIFT
        jmp     .done

.low:   ror     edx, SHIFT
.first: mov     eax, edx                        ; fp itself, as "next"
        or      edx, -1                         ; which does not rise
.stop:  xor     ecx, ecx
        test    eax, eax                        ; eax = next, turned
        jz      .done                           ; zero: the outermost frame
        mov     ecx, WALK_UNALIGNED << WALK_STOP_SHIFT
        mov     ebx, eax
        shr     ebx, 32 - SHIFT
        jnz     .early
        mov     ecx, WALK_FALLING << WALK_STOP_SHIFT
        shl     eax, SHIFT
        mov     ebx, [CPU + CPU_STACK]
        cmp     eax, [ebx + STACK_BEGIN]
        jb      .outside
        test    edx, edx                        ; edx = this - next
        jns     .early
.outside:
        mov     ecx, WALK_OUTSIDE << WALK_STOP_SHIFT
.early: CALL_C  prof_bounds_is_end              ; unless it is complete
        test    al, al
        jz      .done
        xor     ecx, ecx
.done:  mov     eax, edi
        pop     edx                             ; BEGAN
        sub     eax, edx
        shr     eax, 2                          ; eax = words
        add     [CPU + FRAMES_WRITTEN], eax     ; (A)
        or      eax, ecx
.end_of_it:
%if CPUS_MAX > 1
        pop     CPU
%endif
        pop     edi
        pop     esi
        pop     ebx
        ret

.full:  mov     eax, WALK_ROOM << WALK_STOP_SHIFT
        jmp     .end_of_it

.near:  shl     ebx, SHIFT                      ; not even two words?
        cmp     esi, ebx
        ja      .lost
        push    ecx
        lea     ecx, [ebx + 2 * WORD]
        sub     ecx, esi
        shr     ecx, SHIFT                      ; ecx = words that there are
        mov     ebx, FRAMES_KEPT
        sub     ebx, ecx
        rep movsd
        mov     ecx, ebx
        xor     eax, eax
        rep stosd
        pop     ecx
        mov     ebx, [CPU + CPU_STACK]
        mov     ebx, [ebx + STACK_LAST_FRAME]
        jmp     .kept

.lost:  CALL_C  prof_bounds_find                ; is it in another stack?
        test    al, al
        jnz     .bounds
        xor     ecx, ecx                        ; nothing may be read
        mov     eax, edx
        test    edx, edx
        jz      .done
        jmp     .outside
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
