/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include "../pc.h"

#define TICK_VECTOR 34 /* of each CPU's timer */

/* What the boot loader says; Multiboot 0.6.96, 3.3. */
struct boot {
    uint32_t unused[4], line; /* address of the command line */
};

extern const char code_begin[], code_end[];

/* parasite.c; each returns 0 if all is well. The first CPU starts the profiler,
 * each other one joins it. */
int profiler_start(const char *options);
int profiler_join(unsigned cpu);

#endif
