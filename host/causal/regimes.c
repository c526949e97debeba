/* SPDX-License-Identifier: Apache-2.0 */
/* Whether progress has two rates, between which it jumps: the durations of
 * experiments at normal speed are two clusters, far from each other. */

#include "base/memory.h"
#include "causal/causal.h"

#include <math.h>
#include <stdlib.h>

#define FEWEST 20u     /* experiments, */
#define LEAST_PART 0.1 /* and of these in the smaller cluster */
#define LEAST_GAP 0.1  /* between their means, of the lower one */
/* of the variance that is between them: any cut of an even distribution has
 * 0.75, of a normal one 0.64 */
#define LEAST_RATIO 0.9

struct cluster {
    double sum, squares;
    uint32_t count;
};

static int longer(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;

    return (first > second) - (first < second);
}

static void add_value(struct cluster *cluster, double value, int sign)
{
    cluster->sum += sign * value;
    cluster->squares += sign * value * value;
    cluster->count += (uint32_t)sign;
}

static double mean(const struct cluster *cluster)
{
    return cluster->sum / cluster->count;
}

/* The sum of squares of the distances from the mean. */
static double spread(const struct cluster *cluster)
{
    return cluster->squares - cluster->sum * mean(cluster);
}

/* Cuts (values), sorted, where the two clusters are narrowest. */
static void cut(const double *values, uint32_t count, struct cluster *low,
                struct cluster *high)
{
    struct cluster below = {0}, above = {0};
    double least = HUGE_VAL;

    for (uint32_t i = 0; i < count; ++i)
        add_value(&above, values[i], 1);
    for (uint32_t i = 0; i + 1 < count; ++i) {
        add_value(&below, values[i], 1);
        add_value(&above, values[i], -1);
        if (spread(&below) + spread(&above) >= least)
            continue;
        least = spread(&below) + spread(&above);
        *low = below;
        *high = above;
    }
}

static bool are_apart(const struct cluster *low, const struct cluster *high)
{
    struct cluster all = {low->sum + high->sum, low->squares + high->squares,
                          low->count + high->count};
    uint32_t fewer = low->count < high->count ? low->count : high->count;

    return fewer >= LEAST_PART * all.count &&
           mean(high) - mean(low) > LEAST_GAP * mean(low) &&
           spread(low) + spread(high) < (1 - LEAST_RATIO) * spread(&all);
}

/* Cycles of a visit, of each experiment at normal speed. */
static uint32_t normal_periods(const struct causal *causal, uint32_t point,
                               double *periods)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < causal->record_count; ++i) {
        const struct causal_record *record = &causal->records[i];
        uint32_t visits;

        if (record->event.reason != 0 || record->event.speedup != 0 ||
            record->target == INDEX_NONE)
            continue;
        visits = causal_visits_at(causal, record, point);
        if (visits != 0)
            periods[count++] = (double)record->event.virtual_time / visits;
    }
    return count;
}

bool causal_regimes(const struct causal *causal, uint32_t point,
                    struct causal_regimes *found)
{
    double *periods;
    struct cluster low = {0}, high = {0};
    uint32_t count = 0;
    bool apart;

    if (point == INDEX_NONE || causal->record_count == 0)
        return false;
    periods = xreallocarray(NULL, causal->record_count, sizeof *periods);
    count = normal_periods(causal, point, periods);
    qsort(periods, count, sizeof *periods, longer);
    if (count >= FEWEST)
        cut(periods, count, &low, &high);
    free(periods);
    apart = low.count != 0 && are_apart(&low, &high);
    if (apart)
        *found = (struct causal_regimes){
            .cycles = {mean(&low), mean(&high)},
            .part = (double)low.count / count,
        };
    return apart;
}
