/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_X86_CPUID_H
#define ARCH_X86_CPUID_H

#include <stdint.h>

struct cpuid_leaf {
    uint32_t a, b, c, d;
};

/* Any context. A leaf beyond the last one of its range is another one's values:
 * the caller knows that (number) is there. */
static inline struct cpuid_leaf cpuid(uint32_t number)
{
    struct cpuid_leaf leaf = {.a = number, .c = 0};

    __asm__ volatile("cpuid"
                     : "+a"(leaf.a), "=b"(leaf.b), "+c"(leaf.c), "=d"(leaf.d));
    return leaf;
}

#endif
