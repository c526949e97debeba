/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include "../pc.h"

extern const char code_begin[], code_end[];

/* parasite.c; returns 0 if all is well. */
int profiler_start(void);

#endif
