/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LK_ARCH_OPS_H
#define LK_ARCH_OPS_H

#define PHYSMAP_SIZE (4ULL << 30) /* LK has 64 GiB */

typedef unsigned int uint;

static inline void arch_enable_ints(void)
{
    __asm__ volatile("sti" : : : "memory");
}

static inline void arch_disable_ints(void)
{
    __asm__ volatile("cli" : : : "memory");
}

uint arch_curr_cpu_num(void);
void arch_idle(void); /* halts, interrupts on */

#endif
