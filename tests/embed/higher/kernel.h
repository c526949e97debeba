/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include "../pc.h"

#define KERNEL_BASE 0xffffffff80000000 /* kernel.ld */

extern volatile uint64_t kernel_ticks;
extern const char code_begin[], code_end[];

/* Acknowledges the PIT's interrupt. */
void pit_done(void);

/* parasite.c; returns 0 if all is well. */
int profiler_start(void);

#endif
