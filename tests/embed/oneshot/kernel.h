/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#define PC_VECTOR 0x20
#include "../pc.h"

#define TIMER_VECTOR 0x30

extern const char code_begin[], code_end[];

/* parasite.c; (line): the options. Returns 0 if all is well. */
int profiler_start(const char *line);

#endif
