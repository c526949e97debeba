/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include "../pc.h"

#include <stdbool.h>

#define TICK_VECTOR 34 /* of each CPU's timer */

/* What the boot loader says; Multiboot 0.6.96, 3.3. */
struct boot {
    uint32_t unused[4], line; /* address of the command line */
};

extern const char code_begin[], code_end[];

/* What the profiler needs of the kernel: a CPU's TSS, by which it is
 * identified, and its start, up to profiler_join(). */
void load_tss(unsigned cpu);
void wake_cpu(unsigned cpu);
extern volatile bool started;

/* parasite.c, or what docs/embedding/smp.md has instead; each returns 0 if all
 * is well. The first CPU starts the profiler and the second CPU, which joins
 * it. */
int profiler_start(const char *options);
int profiler_join(void);

#endif
