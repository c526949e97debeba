; SPDX-License-Identifier: Apache-2.0
;
; Where the entry of a patched function leads, and its return; patch.h. For
; both widths.
;
; All registers and flags are preserved: callers may know which registers a
; function leaves alone, and rely on it. Frames are linked as in any function,
; so that walks over them find the callers. Interrupts are off in a hook:
; virtual time stands still in it, but in parts, which no handler is to see.

%define ENTRIES 33                      ; as in patch.h
%define ENTRY_BYTES 42
%define RETURNS 128
%define RETURN_BYTES 6

%ifidn __OUTPUT_FORMAT__, elf64
        bits 64
        default rel
%define WORD 8
%define BP rbp
%define SP rsp
%else
        bits 32
%define WORD 4
%define BP ebp
%define SP esp
%endif

        section .text

        extern  prof_patch_hook
        global  prof_patch_entries:function (ENTRIES * ENTRY_BYTES)
        global  prof_patch_returns:function (RETURNS * RETURN_BYTES)
        global  prof_patch_hooks_end

; The instructions that were moved come after this.
%macro ENTRY 0
%%begin:
        push    BP
        mov     BP, SP
        call    patch_hook
        pop     BP
        times ENTRY_BYTES - ($ - %%begin) int3
%endmacro

; The call puts an address of its own in the place of the return address. It is
; not that of the next one.
%macro RETURN 0
%%begin:
        call    patch_hook
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

; Calls prof_patch_hook(frame): above this frame is where it was called from.
patch_hook:
        push    BP
        mov     BP, SP
        pushf
%ifndef PROF_HOSTED
        cli
%endif
%if WORD == 8
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
        mov     rdi, rbp
        call    prof_patch_hook
        lea     rsp, [rbp - 10 * WORD]
        pop     r11
        pop     r10
        pop     r9
        pop     r8
        pop     rdi
        pop     rsi
        pop     rdx
        pop     rcx
        pop     rax
%else
        push    eax
        push    ecx
        push    edx
        cld
        push    ebp
        call    prof_patch_hook
        add     esp, WORD
        pop     edx
        pop     ecx
        pop     eax
%endif
        popf
        pop     BP
        ret

prof_patch_hooks_end:

        section .note.GNU-stack noalloc noexec nowrite progbits
