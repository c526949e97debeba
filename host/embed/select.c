/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a table; the rule is in host/symbols. */

#include "embed/embed.h"

#include <string.h>

/* Keeps the most functions that are within 32 bits of each other. */
static void keep_reachable(struct functions *all)
{
    size_t best = 0, most = 0, end = 0;

    for (size_t begin = 0; begin < all->count && end < all->count; ++begin) {
        uint64_t start = all->at[begin].start;

        while (end < all->count &&
               all->at[end].start - start + all->at[end].size <= UINT32_MAX)
            ++end;
        if (end - begin > most) {
            most = end - begin;
            best = begin;
        }
    }
    memmove(all->at, all->at + best, most * sizeof *all->at);
    all->beyond = all->count - most;
    all->count = most;
}

struct functions select_functions(const struct functions *all)
{
    struct functions chosen = {embed_alloc(all->count, sizeof *all->at), 0, 0};

    chosen.count = functions_choose(all->at, all->count, chosen.at);
    keep_reachable(&chosen);
    return chosen;
}
