/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What of the RAM is still free once image, modules and page tables have their
 * places. At most ten ranges are taken, so looking at all of them for every
 * question is fast enough.
 */

#include "boot_info.h"

#include "paging.h"

#include <arch/boot.h>
#include <stdbool.h>

#define PAGE_MASK (~(uintptr_t)(PAGE_BYTES - 1))

/* The taken range number (index), whole pages. False: there are no more. */
static bool taken_range(size_t index, struct arch_region *range)
{
    if (index == 0) {
        *range =
            (struct arch_region){(uintptr_t)image_begin, (uintptr_t)image_end};
    } else if (index == 1) {
        *range = paging_tables;
    } else if (index - 2 < arch_boot.module_count) {
        const struct arch_module *module = &arch_boot.module[index - 2];

        range->begin = module->begin & PAGE_MASK;
        range->end = (module->end + (PAGE_BYTES - 1)) & PAGE_MASK;
    } else {
        return false;
    }
    return true;
}

/*
 * The first free piece of (within), or an empty one at its end. Each pass over
 * the taken ranges that moves the beginning has left one of them behind.
 */
static struct arch_region first_free(struct arch_region within)
{
    struct arch_region taken;
    size_t i = 0;

    while (taken_range(i++, &taken)) {
        if (taken.begin <= within.begin && taken.end > within.begin) {
            within.begin = taken.end;
            i = 0;
        }
    }
    if (within.begin >= within.end)
        return (struct arch_region){within.end, within.end};
    for (i = 0; taken_range(i, &taken); i++)
        if (taken.begin > within.begin && taken.begin < within.end &&
            taken.end > taken.begin)
            within.end = taken.begin;
    return within;
}

/*
 * The first free piece from (from) on of at least (bytes) bytes or, where
 * (largest), the largest one of all. Empty where there is none.
 */
static struct arch_region search(uintptr_t from, size_t bytes, bool largest)
{
    struct arch_region best = {0, 0};

    for (size_t i = 0; i < arch_boot.region_count; i++) {
        struct arch_region rest = arch_boot.region[i];

        if (rest.begin < from)
            rest.begin = from;
        while (rest.begin < rest.end) {
            const struct arch_region piece = first_free(rest);

            if (piece.end - piece.begin >= bytes &&
                piece.end - piece.begin > best.end - best.begin) {
                best = piece;
                if (!largest)
                    return best;
            }
            rest.begin = piece.end;
        }
    }
    return best;
}

uintptr_t boot_info_find(uintptr_t from, size_t bytes)
{
    return search(from, bytes, false).begin;
}

struct arch_region arch_heap_region(void)
{
    return search(0, 1, true);
}
