/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CPU_START_H
#define CPU_START_H

/*
 * Shared by cpus.c and the code that a further CPU begins with
 * (<width>/cpu_start.asm), which has neither stack nor paging.
 */

#include <stdint.h>

/* Copied to a page below 1 MiB, where it begins in real mode. */
extern const char cpu_start_code[], cpu_start_code_end[];

/* What it is to load. The stack is taken by the first CPU that comes, which
 * leaves 0; who finds 0 was given up, and halts. */
extern volatile uint32_t cpu_start_stack;
extern uint32_t cpu_start_cr0, cpu_start_cr3, cpu_start_cr4, cpu_start_efer;

/* Called on that stack, with a return address of 0. */
void cpu_started(void) __attribute__((noreturn));

#endif
