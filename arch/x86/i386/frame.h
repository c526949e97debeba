/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAME_H
#define FRAME_H

/* The stack when an exception stub calls C, lowest address first. */

#include <arch/registers.h>
#include <stddef.h>
#include <stdint.h>

struct trap_frame {
    /* pushed by pushad in trap.asm */
    uint32_t edi, esi, ebp, esp_before_pushad, ebx, edx, ecx, eax;
    /* pushed by the stub of the vector */
    uint32_t vector;
    /* pushed by the CPU, or 0 by the stub if the CPU pushes none */
    uint32_t error;
    /* pushed by the CPU; no esp, for we never change privilege */
    uint32_t eip, cs, eflags;
};

_Static_assert(offsetof(struct trap_frame, vector) == 8 * 4, "pushad");
_Static_assert(offsetof(struct trap_frame, eip) == 10 * 4, "stub");

/* Converts (frame) to the form that both widths share. */
static inline struct arch_registers
frame_registers(const struct trap_frame *frame)
{
    return (struct arch_registers){
        .pc = frame->eip,
        .sp = (uintptr_t)(frame + 1),
        .fp = frame->ebp,
        .flags = frame->eflags,
        .ax = frame->eax,
        .bx = frame->ebx,
        .cx = frame->ecx,
        .dx = frame->edx,
        .si = frame->esi,
        .di = frame->edi,
        .vector = frame->vector,
        .error = frame->error,
    };
}

#endif
