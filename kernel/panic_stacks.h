/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PANIC_STACKS_H
#define KERNEL_PANIC_STACKS_H

/* Stacks besides those of the boot, for backtraces and stack overflows. */

#include <stdbool.h>
#include <stdint.h>

struct panic_stack {
    uintptr_t begin, end; /* half-open; below begin is a guard page */
    const char *name;     /* of the task whose it is; NULL: a CPU's own */
};

/*
 * Finds the stack that (address) is in, or in its guard page. NULL: the image
 * has none. Contexts: any; MUST NOT trust anything on the stack itself.
 */
extern bool (*panic_find_stack)(uintptr_t address, struct panic_stack *stack);

#endif
