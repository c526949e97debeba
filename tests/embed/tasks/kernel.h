/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include "../pc.h"

#define KERNEL_DIVISOR 11932 /* 100 Hz */

extern volatile uint32_t kernel_ticks;
extern const char code_begin[], code_end[], idle_begin[], idle_end[];

/* Acknowledges the timer's interrupt. */
void timer_done(void);

/* parasite.c; (line) is the command line. Returns 0 if all is well. */
int profiler_start(const char *line);

#endif
