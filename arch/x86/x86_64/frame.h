/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAME_H
#define FRAME_H

/* The stack when an exception stub calls C, lowest address first. */

#include <arch/registers.h>
#include <stddef.h>
#include <stdint.h>

struct trap_frame {
    /* pushed by the common part of trap.asm, last one first */
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
    uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
    /* pushed by the stub of the vector */
    uint64_t vector;
    /* pushed by the CPU, or 0 by the stub if the CPU pushes none */
    uint64_t error;
    /* pushed by the CPU */
    uint64_t rip, cs, rflags, rsp, ss;
};

_Static_assert(offsetof(struct trap_frame, vector) == 15 * 8, "pushes");
_Static_assert(offsetof(struct trap_frame, rip) == 17 * 8, "stub");
_Static_assert(sizeof(struct trap_frame) % 16 == 0, "stack alignment");

/* Converts (frame) to the form that both widths share. */
static inline struct arch_registers
frame_registers(const struct trap_frame *frame)
{
    return (struct arch_registers){
        .pc = frame->rip,
        .sp = frame->rsp,
        .fp = frame->rbp,
        .flags = frame->rflags,
        .ax = frame->rax,
        .bx = frame->rbx,
        .cx = frame->rcx,
        .dx = frame->rdx,
        .si = frame->rsi,
        .di = frame->rdi,
        .r8 = frame->r8,
        .r9 = frame->r9,
        .r10 = frame->r10,
        .r11 = frame->r11,
        .r12 = frame->r12,
        .r13 = frame->r13,
        .r14 = frame->r14,
        .r15 = frame->r15,
        .vector = frame->vector,
        .error = frame->error,
    };
}

#endif
