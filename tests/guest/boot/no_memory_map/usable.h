/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_NO_MEMORY_MAP_USABLE_H
#define TESTS_NO_MEMORY_MAP_USABLE_H

/*
 * What must hold without a memory map, for the images whose loader gives none:
 * four tests.
 */

#include "guest/tap.h"

#include <arch/boot.h>
#include <stdlib.h>
#include <string.h>

#define USABLE_TESTS 4
#define USABLE_MIB (1u << 20)
#define USABLE_LEAST_MIB 120 /* of the 128 that the machine has */
#define USABLE_MOST_MIB 127
#define USABLE_BYTES (100u * USABLE_MIB)
#define USABLE_PATTERN 0x77

static inline void usable_without_map(void)
{
    const struct arch_region *region = &arch_boot.region[0];
    unsigned char *much = malloc(USABLE_BYTES);

    tap_ok(!arch_boot.memory_map, "there is no memory map");
    tap_is_equal((long long)arch_boot.region_count, 1, "there is one region");
    tap_is_between((long long)((region->end - region->begin) / USABLE_MIB),
                   USABLE_LEAST_MIB, USABLE_MOST_MIB,
                   "it is as large as the machine's RAM, MiB");
    if (much != NULL)
        memset(much, USABLE_PATTERN, USABLE_BYTES);
    tap_ok(much != NULL && much[0] == USABLE_PATTERN &&
               much[USABLE_BYTES - 1] == USABLE_PATTERN,
           "the RAM is there");
}

#endif
