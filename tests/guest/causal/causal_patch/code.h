/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_PATCH_CODE_H
#define CAUSAL_PATCH_CODE_H

/* Functions that are easy or hard to patch. */

#include <setjmp.h>
#include <stdint.h>

#define NAMED __attribute__((noinline, noclone))

/* Takes (cycles), of which an instruction is one. */
NAMED void spin_for(uint32_t cycles);

NAMED void plain(uint32_t cycles);                     /* spins */
NAMED void recursive(uint32_t depth, uint32_t cycles); /* at each level */
NAMED void jumps_out(jmp_buf *to, uint32_t cycles);    /* by longjmp() */
NAMED void tail_call(uint32_t cycles);                 /* to plain() */
NAMED void calls_plain(uint32_t cycles);               /* 100 times */

struct three {
    uintptr_t first, second, third;
};
NAMED struct three returns_struct(uintptr_t a, uintptr_t b, uintptr_t c);
NAMED double floats(double a, float b, long double c);
NAMED uint64_t wide(uint64_t a, uint64_t b);

/* Where a register is used that a caller need not give up. */
NAMED uintptr_t switches(uintptr_t which);

/* Too short; with a branch to the second instruction; unknown instructions;
 * a relative operand, call and branch at the beginning; one that has a frame,
 * and an address of plain() on top of its stack while it spins. */
void too_short(void);
uintptr_t branches_back(uintptr_t count);
void unknown_code(void);
uintptr_t all_relative(uintptr_t value);
uintptr_t calls_first(void);
void has_an_address(void);

#endif
