; SPDX-License-Identifier: Apache-2.0
;
; The walk over the frames of whatever was interrupted; frames.h has the
; contract and the layout of what is written.
;
;   uint32_t prof_walk(uintptr_t sp, uintptr_t fp);
;
; In:  rdi = sp, rsi = fp of the interrupted code; interrupts off, DF clear
; Out: eax = words written
; Clobbers rcx, rdx, rsi, rdi, r8 to r11. Uses no stack.
;
; A frame pointer is kept in words, turned right by three bits: one that is not
; aligned becomes enormous and fails the test of its bounds. That test is one
; addition. With left = words from this frame to the last place for one, and
; step = next - this, left + (this - next) carries exactly if
; 1 <= step <= left: if the next frame lies higher, and still in the stack.
;
; `loop` and `stosd` are slow instructions on some CPUs, by a few cycles; what
; is counted here, and promised, is instructions.

%include "prof_offsets.inc"

        default rel
        section .text

        extern  prof_hot
        global  prof_walk:function (prof_walk.end - prof_walk)

%define WORD 8
%define SHIFT 3

; The word at [r11 + %1] if it points into the code, else PROF_WORD_NONE.
%macro  CANDIDATE 1
        mov     rax, [r11 + %1]
        sub     rax, r8
        cmp     rax, r9
        jb      %%code
        or      eax, -1
%%code: stosd
%endmacro

        align   16
prof_walk:
        mov     r11, rdi                        ; r11 = sp
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
        mov     rdi, [prof_hot + FRAMES_WORDS]
        lea     rdi, [rdi + rax * 4]            ; rdi = where words go
        mov     rdx, rsi                        ; rdx = fp
        mov     rsi, rdi                        ; rsi = where they began

        mov     r8, [prof_hot + HOT_STACK]      ; is sp in the stack?
        mov     r10, [r8 + RANGE_END]
        sub     r10, 2 * WORD                   ; r10 = last place of a frame
        cmp     r11, [r8 + RANGE_BEGIN]
        jb      .lost
        cmp     r11, r10
        ja      .lost
        mov     r8, [prof_hot + HOT_TEXT_BASE]
        mov     r9, [prof_hot + HOT_TEXT_BYTES]
        CANDIDATE 0
        CANDIDATE WORD

        mov     rax, rdx                        ; is fp?
        ror     rax, SHIFT                      ; as "next" is below
        cmp     rdx, r11
        jb      .first
        sub     r10, rdx                        ; r10 = left
        jb      .first
        test    dl, WORD - 1
        jnz     .first
        shr     r10, SHIFT
        ror     rdx, SHIFT

.frame: mov     rax, [rdx * WORD + WORD]        ; the return address
        sub     rax, r8
        cmp     rax, r9
        jae     .no_code
        stosd
        mov     rax, [rdx * WORD]               ; the next frame
        ror     rax, SHIFT
        sub     rdx, rax
        add     r10, rdx
        jnc     .stop
        mov     rdx, rax
        loop    .frame

        lea     rax, [rdi - FRAMES_HEAD * 4]    ; all that was asked for, or
        sub     rax, rsi                        ; all that there was room for?
        shr     eax, 2
        mov     ecx, WALK_DEPTH
        cmp     eax, [prof_hot + HOT_DEPTH]
        je      .count
        mov     ecx, WALK_ROOM
        jmp     .count

.no_code:                                       ; two zeros are an end, too
        mov     ecx, WALK_NOT_CODE
        add     rax, r8
        or      rax, [rdx * WORD]
        jz      .done
        jmp     .count

.first: or      rdx, -1                         ; fp itself does not rise
.stop:  test    rax, rax                        ; rax = next, turned
        jz      .done                           ; zero: the outermost frame
        mov     ecx, WALK_UNALIGNED
        mov     r8, rax
        shr     r8, 64 - SHIFT
        jnz     .count
        mov     ecx, WALK_FALLING
        shl     rax, SHIFT
        cmp     rax, r11
        jb      .outside
        test    rdx, rdx                        ; rdx = this - next
        jns     .count
.outside:
        mov     ecx, WALK_OUTSIDE
.count: inc     dword [prof_hot + HOT_STOPPED + rcx * 4]
.done:  mov     rax, rdi
        sub     rax, rsi
        shr     eax, 2                          ; eax = words
        add     [prof_hot + FRAMES_WRITTEN], eax        ; (A)
        ret

.full:  mov     ecx, WALK_ROOM
        inc     dword [prof_hot + HOT_STOPPED + rcx * 4]
        xor     eax, eax
        ret

.lost:  test    rdx, rdx                        ; nothing may be read
        jz      .done
        jmp     .outside
.end:

        section .note.GNU-stack noalloc noexec nowrite progbits
