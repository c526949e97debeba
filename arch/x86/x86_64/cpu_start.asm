; SPDX-License-Identifier: Apache-2.0
;
; From the start of a further CPU to C, 64-bit. With one CPU there is none.

%ifdef ARCH_CPUS_MAX
%if ARCH_CPUS_MAX > 1

%include "../cpu_start.inc"

; In: nothing but flat segments. Does not return.
global cpu_flat:function (cpu_flat.end - cpu_flat)
cpu_flat:
    TAKE_STACK
    PAGING_ON
    lgdt    [gdt_pointer]
    jmp     CODE_SELECTOR:.long

bits 64
.long:
    mov     eax, DATA_SELECTOR
    mov     ds, eax
    mov     es, eax
    mov     fs, eax
    mov     gs, eax
    mov     ss, eax
    mov     esp, esp                ; its upper half is undefined until now
    push    qword 0
    xor     ebp, ebp
    jmp     cpu_started
.end:

%endif
%endif
