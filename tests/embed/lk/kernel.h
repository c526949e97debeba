/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include "../pc.h"

#define KERNEL_BASE 0xffffffff80000000 /* kernel.ld */

/* cpu.asm */
extern const char cpu_start[], cpu_start_end[], nmi_entry[];
void cpu_entry(void);
void switch_stack(uintptr_t *from, uintptr_t to);

#endif
