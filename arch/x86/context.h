/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTEXT_H
#define CONTEXT_H

/* Shared by context.c and context.asm. */

#include <stddef.h>
#include <stdint.h>

/* A stack that is not running, from its pointer up; see context.asm. */
struct context {
    uint32_t mxcsr;
    uint16_t x87_control;
    uint16_t unused;
#ifdef __x86_64__
    uintptr_t r15, r14, r13, r12;
#else
    uintptr_t di, si;
#endif
    uintptr_t bx; /* entry, for arch_context_begin() */
    uintptr_t fp; /* 0: the outermost frame */
    uintptr_t return_address;
};

_Static_assert(offsetof(struct context, return_address) ==
                   8 + (sizeof(uintptr_t) == 8 ? 6 : 4) * sizeof(uintptr_t),
               "context.asm");

/* The first code on a new stack; not a C function. */
void arch_context_begin(void);

/* Whether the CPU has SSE; read by the 32-bit switch. */
extern uint8_t arch_has_sse;

#endif
