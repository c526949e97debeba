; SPDX-License-Identifier: Apache-2.0
;
; The walk over the frames of whatever was interrupted; frames.h has the
; contract and the layout of what is written.
;
;   uint32_t prof_walk(uintptr_t sp, uintptr_t fp);
;
; In:  [esp + 4] = sp, [esp + 8] = fp of the interrupted code; interrupts off,
;      DF clear
; Out: eax = words written
; Clobbers ecx and edx. Uses 20 bytes of stack.
;
; A frame pointer is kept in words, turned right by two bits: one that is not
; aligned becomes enormous and fails the test of its bounds. That test is one
; addition. With left = words from this frame to the last place for one, and
; step = next - this, left + (this - next) carries exactly if
; 1 <= step <= left: if the next frame lies higher, and still in the stack.
;
; `loop` and `stosd` are slow instructions on some CPUs, by a few cycles; what
; is counted here, and promised, is instructions.

%include "prof_offsets.inc"

        section .text

        extern  prof_hot
        global  prof_walk:function (prof_walk.end - prof_walk)

%define WORD 4
%define SHIFT 2
%define BEGAN 0                         ; [esp]: where this sample's words began
%define SP 20                           ; after five pushes, the arguments
%define FP 24

; The word at [ebx + %1] if it points into the code, else PROF_WORD_NONE.
%macro  CANDIDATE 1
        mov     eax, [ebx + %1]
        sub     eax, [prof_hot + HOT_TEXT_BASE]
        cmp     eax, [prof_hot + HOT_TEXT_BYTES]
        jb      %%code
        or      eax, -1
%%code: stosd
%endmacro

        align   16
prof_walk:
        push    ebx
        push    esi
        push    edi
        mov     eax, [prof_hot + FRAMES_WRITTEN]
        mov     edi, [prof_hot + FRAMES_CAPACITY]
        mov     ecx, [prof_hot + FRAMES_READ]   ; (B')
        sub     ecx, eax
        add     ecx, edi
        sub     ecx, FRAMES_HEAD                ; ecx = frames that there is
        jbe     .full                           ;       room for
        cmp     ecx, [prof_hot + HOT_DEPTH]
        jbe     .room
        mov     ecx, [prof_hot + HOT_DEPTH]
.room:  dec     edi
        and     eax, edi
        mov     edi, [prof_hot + FRAMES_WORDS]
        lea     edi, [edi + eax * 4]            ; edi = where words go
        push    edi                             ; BEGAN
        mov     ebx, [esp + SP]                 ; ebx = sp
        mov     edx, [esp + FP]                 ; edx = fp

        mov     eax, [prof_hot + HOT_STACK]     ; is sp in the stack?
        mov     esi, [eax + RANGE_END]
        sub     esi, 2 * WORD                   ; esi = last place of a frame
        cmp     ebx, [eax + RANGE_BEGIN]
        jb      .lost
        cmp     ebx, esi
        ja      .lost
        CANDIDATE 0
        CANDIDATE WORD

        mov     eax, edx                        ; is fp?
        ror     eax, SHIFT                      ; as "next" is below
        cmp     edx, ebx
        jb      .first
        sub     esi, edx                        ; esi = left
        jb      .first
        test    dl, WORD - 1
        jnz     .first
        shr     esi, SHIFT
        ror     edx, SHIFT

.frame: mov     eax, [edx * WORD + WORD]        ; the return address
        sub     eax, [prof_hot + HOT_TEXT_BASE]
        cmp     eax, [prof_hot + HOT_TEXT_BYTES]
        jae     .no_code
        stosd
        mov     eax, [edx * WORD]               ; the next frame
        ror     eax, SHIFT
        sub     edx, eax
        add     esi, edx
        jnc     .stop
        mov     edx, eax
        loop    .frame

        lea     eax, [edi - FRAMES_HEAD * 4]    ; all that was asked for, or
        sub     eax, [esp + BEGAN]              ; all that there was room for?
        shr     eax, 2
        mov     ecx, WALK_DEPTH
        cmp     eax, [prof_hot + HOT_DEPTH]
        je      .count
        mov     ecx, WALK_ROOM
        jmp     .count

.no_code:                                       ; two zeros are an end, too
        mov     ecx, WALK_NOT_CODE
        add     eax, [prof_hot + HOT_TEXT_BASE]
        or      eax, [edx * WORD]
        jz      .done
        jmp     .count

.first: or      edx, -1                         ; fp itself does not rise
.stop:  test    eax, eax                        ; eax = next, turned
        jz      .done                           ; zero: the outermost frame
        mov     ecx, WALK_UNALIGNED
        mov     esi, eax
        shr     esi, 32 - SHIFT
        jnz     .count
        mov     ecx, WALK_FALLING
        shl     eax, SHIFT
        cmp     eax, ebx
        jb      .outside
        test    edx, edx                        ; edx = this - next
        jns     .count
.outside:
        mov     ecx, WALK_OUTSIDE
.count: inc     dword [prof_hot + HOT_STOPPED + ecx * 4]
.done:  mov     eax, edi
        pop     edx                             ; BEGAN
        sub     eax, edx
        shr     eax, 2                          ; eax = words
        add     [prof_hot + FRAMES_WRITTEN], eax        ; (A)
.end_of_it:
        pop     edi
        pop     esi
        pop     ebx
        ret

.full:  mov     ecx, WALK_ROOM
        inc     dword [prof_hot + HOT_STOPPED + ecx * 4]
        xor     eax, eax
        jmp     .end_of_it

.lost:  test    edx, edx                        ; nothing may be read
        jz      .done
        jmp     .outside
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
