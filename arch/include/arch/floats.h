/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_FLOATS_H
#define ARCH_FLOATS_H

/*
 * FPU and SSE state, for what may use it in an interrupt: newlib's malloc() on
 * x86_64. On i386 nothing of ours does, and these do nothing.
 */

#include <stdint.h>

struct arch_floats {
#ifdef __x86_64__
    _Alignas(16) uint8_t image[512];
#else
    uint8_t none;
#endif
};

static inline void arch_floats_save(struct arch_floats *floats)
{
#ifdef __x86_64__
    __asm__ volatile("fxsave64 %0" : "=m"(*floats));
#else
    (void)floats;
#endif
}

static inline void arch_floats_restore(const struct arch_floats *floats)
{
#ifdef __x86_64__
    __asm__ volatile("fxrstor64 %0" : : "m"(*floats));
#else
    (void)floats;
#endif
}

#endif
