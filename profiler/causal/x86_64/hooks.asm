; SPDX-License-Identifier: Apache-2.0
;
; Where the entry of a patched function leads, and its return; hooks.h.
;
; All registers are preserved but the flags, which no function expects or
; returns anything in: callers may know which registers a function leaves
; alone, and rely on it. Frames are linked as in any function, so that walks
; over them find the callers.

%define ENTRIES 32                      ; as in hooks.h
%define ENTRY_BYTES 48
%define RETURNS 128
%define RETURN_BYTES 8

        bits 64
        default rel
        section .text

        extern  prof_patch_entered, prof_patch_left
        global  prof_patch_entries:function (ENTRIES * ENTRY_BYTES)
        global  prof_patch_returns:function (RETURNS * RETURN_BYTES)

; Behind this are the instructions that were moved.
%macro ENTRY 0
%%begin:
        push    rbp
        mov     rbp, rsp
        call    entered
        pop     rbp
        times ENTRY_BYTES - ($ - %%begin) int3
%endmacro

; The call puts an address of its own in the place of the return address.
%macro RETURN 0
%%begin:
        call    left
        times RETURN_BYTES - ($ - %%begin) nop
%endmacro

        align   16
prof_patch_entries:
%rep ENTRIES
        ENTRY
%endrep

prof_patch_returns:
%rep RETURNS
        RETURN
%endrep

%macro SAVE 0
        push    rbp
        mov     rbp, rsp
        push    rax
        push    rcx
        push    rdx
        push    rsi
        push    rdi
        push    r8
        push    r9
        push    r10
        push    r11
        cld
        and     rsp, -16
%endmacro

%macro RESTORE 0
        lea     rsp, [rbp - 9 * 8]
        pop     r11
        pop     r10
        pop     r9
        pop     r8
        pop     rdi
        pop     rsi
        pop     rdx
        pop     rcx
        pop     rax
        pop     rbp
        ret
%endmacro

entered:
        SAVE
        mov     rdi, [rbp + 8]          ; in the entry
        lea     rsi, [rbp + 24]         ; where the return address is
        call    prof_patch_entered
        RESTORE

left:
        SAVE
        mov     rdi, [rbp + 8]          ; in prof_patch_returns
        lea     rsi, [rbp + 8]          ; the place of the return address
        call    prof_patch_left
        RESTORE

        section .note.GNU-stack noalloc noexec nowrite progbits
