/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest for `parasite attach` to be measured with: nearly all of its time is
 * spent in a leaf with 12 callers, two of them the kernel's. It never ends.
 */

#include <kernel/service.h>

#include <stdbool.h>
#include <stdint.h>

#define TURNS 50000u

#define LEVEL(name, next)                                                      \
    __attribute__((noinline)) static uint32_t name(uint32_t seed)              \
    {                                                                          \
        return next(seed) + 1;                                                 \
    }

__attribute__((noinline)) static uint32_t leaf(uint32_t seed)
{
    for (uint32_t i = 0; i < TURNS; ++i)
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

LEVEL(level_12, leaf)
LEVEL(level_11, level_12)
LEVEL(level_10, level_11)
LEVEL(level_9, level_10)
LEVEL(level_8, level_9)
LEVEL(level_7, level_8)
LEVEL(level_6, level_7)
LEVEL(level_5, level_6)
LEVEL(level_4, level_5)

bool service_option(const char *key, const char *value)
{
    (void)key, (void)value;
    return false;
}

int service_main(void)
{
    uint32_t volatile sum = 0;

    for (;;)
        sum = level_4(sum);
}
