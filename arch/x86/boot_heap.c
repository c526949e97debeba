/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Searches RAM for ranges that hold neither the image nor modules, symbols or
 * page tables. At most twelve ranges are in use, so a linear search is fast
 * enough. Page tables and the beginning of the heap are below 4 GiB, where the
 * loader's tables or those of boot.asm map it.
 */

#include "boot_heap.h"

#include "page.h"

#include <arch/boot.h>
#include <stdbool.h>

#define PAGE_MASK (~(uintptr_t)(PAGE_BYTES - 1))

#ifdef __x86_64__
#define BELOW_4G ((uintptr_t)1 << 32)
#else
#define BELOW_4G UINTPTR_MAX
#endif

static struct arch_region page_tables;

void boot_heap_reserve(struct arch_region tables)
{
    page_tables = tables;
}

static struct arch_region whole_pages(uintptr_t begin, uintptr_t end)
{
    return (struct arch_region){begin & PAGE_MASK,
                                (end + (PAGE_BYTES - 1)) & PAGE_MASK};
}

/* The range in use with number (index), whole pages. False: no more. */
static bool used_range(size_t index, struct arch_region *range)
{
    if (index == 0) {
        *range =
            (struct arch_region){(uintptr_t)image_begin, (uintptr_t)image_end};
    } else if (index == 1) {
        *range = page_tables;
    } else if (index == 2) {
        *range = whole_pages(arch_boot.symbols.table.begin,
                             arch_boot.symbols.table.end);
    } else if (index == 3) {
        *range = whole_pages(arch_boot.symbols.names.begin,
                             arch_boot.symbols.names.end);
    } else if (index - 4 < arch_boot.module_count) {
        const struct arch_module *module = &arch_boot.module[index - 4];

        *range = whole_pages(module->begin, module->end);
    } else {
        return false;
    }
    return true;
}

/*
 * The first free piece of (within), or an empty one at its end. Whenever the
 * beginning moves past a range, the search starts again: ranges are unsorted.
 */
static struct arch_region first_free(struct arch_region within)
{
    struct arch_region used;
    size_t i = 0;

    while (used_range(i++, &used)) {
        if (used.begin <= within.begin && used.end > within.begin) {
            within.begin = used.end;
            i = 0;
        }
    }
    if (within.begin >= within.end)
        return (struct arch_region){within.end, within.end};
    for (i = 0; used_range(i, &used); i++)
        if (used.begin > within.begin && used.begin < within.end &&
            used.end > used.begin)
            within.end = used.begin;
    return within;
}

/*
 * The first free piece within (limits) of at least (bytes) bytes or, with
 * (largest), the largest one. Empty if there is none.
 */
static struct arch_region search(struct arch_region limits, size_t bytes,
                                 bool largest)
{
    struct arch_region best = {0, 0};

    for (size_t i = 0; i < arch_boot.region_count; i++) {
        struct arch_region rest = arch_boot.region[i];

        if (rest.begin < limits.begin)
            rest.begin = limits.begin;
        if (rest.end > limits.end)
            rest.end = limits.end;
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

uintptr_t boot_heap_find(uintptr_t from, size_t bytes)
{
    return search((struct arch_region){from, BELOW_4G}, bytes, false).begin;
}

struct arch_region arch_heap_region(void)
{
    return search((struct arch_region){0, BELOW_4G}, 1, true);
}

struct arch_region arch_free_region(uintptr_t from, size_t bytes)
{
    return search((struct arch_region){from, UINTPTR_MAX}, bytes, false);
}
