/* SPDX-License-Identifier: Apache-2.0 */
#ifndef X86_CPU_H
#define X86_CPU_H

#include "../../pc.h"

#define outb(port, value) pc_out8(port, value)
#define inb(port) pc_in8(port)

static inline void wrmsr(uint32_t number, uint32_t low, uint32_t high)
{
    __asm__ volatile("wrmsr" : : "c"(number), "a"(low), "d"(high));
}

#endif
