/* SPDX-License-Identifier: Apache-2.0 */
/* The names of sites, and their order. */

#include "base/memory.h"
#include "occupancy/occupancy.h"

#include <stdlib.h>
#include <string.h>

const char *occupancy_name(const struct occupancy *occupancy, uint32_t site)
{
    return strings_text(&occupancy->strings, occupancy->places[site].text);
}

const char *occupancy_file(const struct occupancy *occupancy, uint32_t site)
{
    return strings_text(&occupancy->strings, occupancy->places[site].file);
}

uint32_t occupancy_line(const struct occupancy *occupancy, uint32_t site)
{
    return occupancy->places[site].line;
}

/* ---- order */

static const char *const words[OCCUPANCY_ORDERS] = {
    [OCCUPANCY_BY_OWN] = "own",         [OCCUPANCY_BY_TOTAL] = "total",
    [OCCUPANCY_BY_LONGEST] = "longest", [OCCUPANCY_BY_DELAY] = "delay",
    [OCCUPANCY_BY_LIFE] = "wall",       [OCCUPANCY_BY_CALLS] = "calls",
    [OCCUPANCY_BY_PENDING] = "pending", [OCCUPANCY_BY_NAME] = "name",
};

enum occupancy_order occupancy_order_of(const char *word)
{
    unsigned order = 0;

    while (order < OCCUPANCY_ORDERS && strcmp(words[order], word) != 0)
        ++order;
    return (enum occupancy_order)order;
}

const char *occupancy_order_word(enum occupancy_order order)
{
    return words[order];
}

/* A site with what it is sorted by. */
struct ranked {
    uint64_t weight;
    uint64_t own;
    const char *name; /* NULL: not sorted by it, or it has none */
    uint32_t site;
};

static uint64_t weight_of(const struct occupancy_site *site,
                          enum occupancy_order order)
{
    switch (order) {
    case OCCUPANCY_BY_TOTAL:
        return site->row.total;
    case OCCUPANCY_BY_LONGEST:
        return site->row.longest;
    case OCCUPANCY_BY_DELAY:
        return site->row.delay;
    case OCCUPANCY_BY_LIFE:
        return site->row.wall;
    case OCCUPANCY_BY_CALLS:
        return site->row.calls;
    case OCCUPANCY_BY_PENDING:
        return site->row.pending;
    default:
        return site->row.own;
    }
}

static int compare(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    int order = (a->name == NULL) - (b->name == NULL);

    if (a->name != NULL && b->name != NULL)
        order = strcmp(a->name, b->name);
    if (order == 0)
        order = (a->weight < b->weight) - (a->weight > b->weight);
    if (order == 0)
        order = (a->own < b->own) - (a->own > b->own);
    return order != 0 ? order : (a->site > b->site) - (a->site < b->site);
}

uint32_t *occupancy_sorted(const struct occupancy *occupancy,
                           const struct occupancy_snapshot *snapshot,
                           enum occupancy_order order, uint32_t *count)
{
    uint32_t all = snapshot->site_count, *sorted;
    struct ranked *ranked = xreallocarray(NULL, all + 1u, sizeof *ranked);

    *count = 0;
    for (uint32_t i = 0; i < all; ++i) {
        const struct occupancy_site *site = &snapshot->sites[i];
        bool by_name =
            order == OCCUPANCY_BY_NAME && occupancy->places[i].defined;

        if (site->present)
            ranked[(*count)++] = (struct ranked){
                .weight = weight_of(site, order),
                .own = site->row.own,
                .name = by_name ? occupancy_name(occupancy, i) : NULL,
                .site = i,
            };
    }
    if (*count > 0)
        qsort(ranked, *count, sizeof *ranked, compare);
    sorted = xreallocarray(NULL, all + 1u, sizeof *sorted);
    for (uint32_t i = 0; i < *count; ++i)
        sorted[i] = ranked[i].site;
    free(ranked);
    return sorted;
}
