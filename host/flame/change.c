/* SPDX-License-Identifier: Apache-2.0 */
/* What changed since the base, and which changes are significant. */

#include "flame/flame.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

#define CONFIDENCE 0.95 /* that no box is coloured by chance */

static struct interval_pair pair_of(const struct flame *flame, uint32_t node)
{
    const struct model_count *total = flame->nodes[node].total;
    const struct model_count *all = flame->nodes[0].total;

    return (struct interval_pair){
        .base_hits = (double)total[FLAME_BASE].samples,
        .base_whole = (double)all[FLAME_BASE].samples,
        .new_hits = (double)total[FLAME_NEW].samples,
        .new_whole = (double)all[FLAME_NEW].samples,
    };
}

static int downwards(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a < b) - (a > b);
}

double flame_z(const struct flame *flame)
{
    uint32_t count = flame_nodes(flame);
    double *totals = xreallocarray(NULL, count, sizeof *totals);
    struct interval_pair all = pair_of(flame, 0);
    double comparisons;

    for (uint32_t i = 0; i < count; ++i) {
        struct interval_pair pair = pair_of(flame, i);

        totals[i] = pair.base_hits + pair.new_hits;
    }
    qsort(totals, count, sizeof *totals, downwards);
    comparisons = interval_comparisons(totals, count, &all, CONFIDENCE);
    free(totals);
    return interval_z(CONFIDENCE, comparisons > 1 ? comparisons : 1);
}

double flame_share(const struct flame *flame, uint32_t node,
                   enum flame_side side)
{
    const struct model_count *part = &flame->nodes[node].total[side];
    const struct model_count *all = &flame->nodes[0].total[side];
    uint64_t whole = flame->by_time ? all->clocks : all->samples;

    if (whole == 0)
        return 0;
    return (double)(flame->by_time ? part->clocks : part->samples) /
           (double)whole;
}

double flame_change(const struct flame *flame, uint32_t node, double z)
{
    struct interval_pair pair = pair_of(flame, node);
    struct interval change = interval_difference(&pair, z);
    double now = flame_share(flame, node, FLAME_NEW);
    double before = flame_share(flame, node, FLAME_BASE);
    double times = log2((now + 1e-4) / (before + 1e-4));

    if (interval_is_noise(&change))
        return 0;
    return fmax(-1, fmin(1, times / 2 + copysign(0.35, times)));
}
