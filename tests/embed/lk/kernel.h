/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include "../pc.h"

#include <stdbool.h>

#define KERNEL_BASE 0xffffffff80000000 /* kernel.ld */

/* switch.asm */
extern const char nmi_entry[];
extern volatile bool nmis_may_come; /* to its handler, without being a fault */
void switch_stack(uintptr_t *from, uintptr_t to);

#endif
