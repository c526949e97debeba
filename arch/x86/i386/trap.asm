; SPDX-License-Identifier: Apache-2.0
;
; Entry points of interrupts and exceptions, 32-bit.
;
; The stub of an interrupt line saves the registers that C may clobber, calls
; the handler and returns. The stub of an exception builds struct trap_frame
; (frame.h) and does not return: every exception ends the image. A double
; fault enters through a task gate, on the fault stack, because the current
; stack may have overflowed.

bits 32

extern trap_irq_handlers, trap_exception, trap_double_fault
global arch_nmi_count, trap_stubs
global arch_idle:function (arch_idle_end - arch_idle)
global arch_idle_begin, arch_idle_end

%ifndef ARCH_CPUS_MAX
%define ARCH_CPUS_MAX 1
%endif

EXCEPTIONS          equ 32
IRQ_LINES           equ 34
NMI                 equ 2
DOUBLE_FAULT        equ 8
; Vectors for which the CPU pushes an error code.
WITH_ERROR          equ 1 << 8 | 0x1f << 10 | 1 << 17 | 1 << 21 | 3 << 29

section .bss
arch_nmi_count: resd 1
%if ARCH_CPUS_MAX > 1
global trap_runs_alone, trap_stopped
trap_runs_alone: resd 1
trap_stopped: resd 1
%endif

section .text

; void arch_idle(void), called with interrupts off, returns with them on.
; `sti` delays interrupts until after the next instruction, so the interrupt
; that ends the `hlt` sees a pc after the `hlt` and within these bounds.
arch_idle:
arch_idle_begin:
    push    ebp
    mov     ebp, esp
    sti
    hlt
    pop     ebp
    ret
arch_idle_end:

; Interrupt of line %1. The CPU has pushed eflags, cs, eip.
%macro IRQ_STUB 1
global trap_irq_%1:function (trap_irq_%1.end - trap_irq_%1)
trap_irq_%1:
    push    eax                     ; the caller-saved registers
    push    ecx
    push    edx
    cld
    call    [trap_irq_handlers + %1 * 4]
    pop     edx
    pop     ecx
    pop     eax
    iret
.end:
%endmacro

; Exception %1: pushes an error code of 0 if the CPU pushed none.
%macro EXCEPTION_STUB 1
global trap_exception_%1:function (trap_exception_%1.end - trap_exception_%1)
trap_exception_%1:
%if (WITH_ERROR >> %1 & 1) == 0
    push    dword 0
%endif
    push    dword %1
    jmp     trap_exception_common
.end:
%endmacro

; In: struct trap_frame from `vector` up. Does not return.
global trap_exception_common:function (trap_exception_common.end - \
    trap_exception_common)
trap_exception_common:
    pushad
    cld
    mov     eax, esp
    and     esp, -16
    sub     esp, 12
    push    eax
    call    trap_exception
    ud2
.end:

; Counts and returns; NMIs stay blocked until the iret. With several CPUs, one
; of which is to run alone, the others stop here: its number and 1 are in
; trap_runs_alone then. The selector of CPU n's task, less 8, is 16 (n + 1), or
; 24 on i386 while it handles a double fault.
global trap_nmi:function (trap_nmi.end - trap_nmi)
trap_nmi:
%if ARCH_CPUS_MAX > 1
    push    eax
    mov     eax, [trap_runs_alone]
    test    eax, eax
    jz      .goes_on
    push    ecx
    str     ecx
    sub     ecx, 8
    shr     ecx, 4
    cmp     eax, ecx
    pop     ecx
    jne     .stop
.goes_on:
    pop     eax
    lock inc dword [arch_nmi_count]
    iret
.stop:
    lock inc dword [trap_stopped]
.stopped:
    cli
    hlt
    jmp     .stopped
%else
    inc     dword [arch_nmi_count]
    iret
%endif
.end:

; Entry of the fault task; esp is at the top of the fault stack. The task switch
; has set CR0.TS, which would trap the first use of the FPU.
global trap_double_fault_entry:function (trap_double_fault_entry.end - \
    trap_double_fault_entry)
trap_double_fault_entry:
    clts
    cld
    xor     ebp, ebp
    and     esp, -16
    push    ebp
    jmp     trap_double_fault
.end:

%assign vector 0
%rep EXCEPTIONS
    %if vector != NMI && vector != DOUBLE_FAULT
        EXCEPTION_STUB vector
    %endif
    %assign vector vector + 1
%endrep

%assign line 0
%rep IRQ_LINES
    IRQ_STUB line
    %assign line line + 1
%endrep

; void (*const trap_stubs[66])(void), by vector
section .rodata align=4
trap_stubs:
%assign vector 0
%rep EXCEPTIONS
    %if vector == NMI
        dd trap_nmi
    %elif vector == DOUBLE_FAULT
        dd trap_double_fault_entry
    %else
        dd trap_exception_ %+ vector
    %endif
    %assign vector vector + 1
%endrep
%assign line 0
%rep IRQ_LINES
    dd trap_irq_ %+ line
    %assign line line + 1
%endrep
