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

        bits 32
        section .text

        extern  prof_patch_entered, prof_patch_left
        global  prof_patch_entries:function (ENTRIES * ENTRY_BYTES)
        global  prof_patch_returns:function (RETURNS * RETURN_BYTES)

; Behind this are the instructions that were moved.
%macro ENTRY 0
%%begin:
        push    ebp
        mov     ebp, esp
        call    entered
        pop     ebp
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
        push    ebp
        mov     ebp, esp
        push    eax
        push    ecx
        push    edx
        cld
%endmacro

%macro RESTORE 0
        pop     edx
        pop     ecx
        pop     eax
        pop     ebp
        ret
%endmacro

entered:
        SAVE
        lea     eax, [ebp + 12]         ; where the return address is
        push    eax
        push    dword [ebp + 4]         ; in the entry
        call    prof_patch_entered
        add     esp, 8
        RESTORE

left:
        SAVE
        lea     eax, [ebp + 4]          ; the place of the return address
        push    eax
        push    dword [ebp + 4]         ; in prof_patch_returns
        call    prof_patch_left
        add     esp, 8
        RESTORE

        section .note.GNU-stack noalloc noexec nowrite progbits
