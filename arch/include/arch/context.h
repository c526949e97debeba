/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_CONTEXT_H
#define ARCH_CONTEXT_H

/* Stacks: memory for them, and the switch from one to another. */

#include <arch/boot.h>
#include <stdbool.h>
#include <stdint.h>

#define ARCH_PAGE_BYTES 4096u

/*
 * Addresses that nothing is mapped at, half-open and aligned to 2 MiB. On i386
 * they begin above the RAM and end below the devices, so there may be none: an
 * empty range. Contexts: after arch start-up.
 */
struct arch_region arch_unused_addresses(void);

/*
 * Maps the page of RAM (memory) at (address), both page-aligned, readable and
 * writable. (address) MUST be an unused one; it cannot be unmapped. Pages for
 * tables come from (page), which returns RAM that the caller can do without, or
 * NULL. False: it returned NULL; nothing has changed. Such an address is not
 * the physical one: devices cannot be given it. Contexts: thread.
 */
bool arch_map(uintptr_t address, const void *memory, void *(*page)(void));

/*
 * Writes the first frame of a stack that ends at (top), aligned to 16 bytes,
 * and returns the stack pointer to be switched to, at most
 * ARCH_CONTEXT_BYTES below. (entry) is called there with interrupts on, the FPU
 * as after a reset, and an empty chain of frame pointers. It MUST NOT return.
 */
#define ARCH_CONTEXT_BYTES 128u
uintptr_t arch_context_new(uintptr_t top, void (*entry)(void));

/*
 * Stores the registers on the current stack, its pointer in (*from), and goes
 * on from stack pointer (to). What a C function must preserve is preserved,
 * with the control words of x87 and SSE; their data registers are the caller's
 * to save, as at any call. Contexts: thread, interrupts on. About twenty-five
 * instructions. Source: System V ABI, AMD64 supplement 3.2.1, i386 2.2.
 */
void arch_context_switch(uintptr_t *from, uintptr_t to);

#endif
