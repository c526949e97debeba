/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TASK_STACKS_H
#define KERNEL_TASK_STACKS_H

/* A pool of stacks, each above a page that is not mapped. Contexts: thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack {
    uintptr_t begin, end; /* half-open, whole pages */
};

/* A stack of (bytes), rounded up to a power of two of pages. False: too many,
 * no memory or, on i386, no addresses. Its contents are undefined. */
bool stack_take(size_t bytes, struct stack *stack);

/* Gives it back to the pool, for stacks of the same size. */
void stack_give(const struct stack *stack);

/* The stack that (address) is in, or in the guard below it. False: none that
 * was ever taken. Contexts: any. */
bool stack_find(uintptr_t address, struct stack *stack);

/* Stacks that exist, and their bytes. */
uint32_t stack_count(uint64_t *bytes);

#endif
