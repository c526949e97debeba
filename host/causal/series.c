/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a target and a speed-up. */

#include "causal/causal.h"

#include "base/checked.h"

#include <stdlib.h>

#define TENTHS 10u
#define US_PER_S 1000000u

const struct prof_progress_sum *causal_groups(const struct causal *causal,
                                              uint32_t target, uint32_t speedup,
                                              uint32_t point)
{
    uint32_t found =
        index_find(&causal->series_keys, causal_key(target, speedup, point));

    return found == INDEX_NONE ? NULL : causal->series[found];
}

const struct causal_latency *causal_latency(const struct causal *causal,
                                            uint32_t target, uint32_t speedup,
                                            uint32_t kind)
{
    uint32_t found =
        index_find(&causal->latency_keys, causal_key(target, speedup, kind));

    return found == INDEX_NONE || !causal->latencies[found].known
               ? NULL
               : &causal->latencies[found];
}

uint32_t causal_speedups(const struct causal *causal,
                         uint32_t numbers[CAUSAL_SPEEDUPS_MAX])
{
    for (uint32_t i = 0; i < causal->speedup_count; ++i) {
        uint32_t at = i;

        for (;
             at > 0 && causal->speedups[numbers[at - 1]] > causal->speedups[i];
             --at)
            numbers[at] = numbers[at - 1];
        numbers[at] = i;
    }
    return causal->speedup_count;
}

const char *causal_limited_by(const struct causal *causal, uint32_t target,
                              uint32_t speedup, double *part)
{
    static const char *const names[CAUSAL_LIMITS] = {
        "timers", "devices", "peers", "arrivals", "CPU"};
    uint32_t found =
        index_find(&causal->limit_keys, causal_key(target, speedup, 0));
    const uint64_t *cycles;
    unsigned most = 0;
    double all = 0;

    if (found == INDEX_NONE)
        return NULL;
    cycles = causal->limits[found].cycles;
    for (unsigned i = 0; i < CAUSAL_LIMITS; ++i) {
        all += (double)cycles[i];
        if (cycles[i] > cycles[most])
            most = i;
    }
    if (all <= 0)
        return NULL;
    *part = (double)cycles[most] / all;
    return names[most];
}

uint64_t causal_us10(const struct causal *causal, uint64_t cycles)
{
    uint64_t per_us = causal->tsc_hz / US_PER_S;

    return checked_scale(cycles, TENTHS, per_us == 0 ? 1 : per_us);
}

static uint32_t shown(const struct causal *causal, uint32_t count)
{
    uint32_t most = causal->target_numbers.count == 0
                        ? count
                        : CAUSAL_ROWS_MAX / causal->target_numbers.count;

    return count < most ? count : most;
}

uint32_t causal_points_shown(const struct causal *causal)
{
    return shown(causal, causal->point_numbers.count);
}

uint32_t causal_kinds_shown(const struct causal *causal)
{
    return shown(causal, causal->kind_numbers.count);
}

void causal_free(struct causal *causal)
{
    index_free(&causal->target_numbers);
    index_free(&causal->point_numbers);
    index_free(&causal->kind_numbers);
    strings_free(&causal->strings);
    index_free(&causal->series_keys);
    index_free(&causal->latency_keys);
    index_free(&causal->limit_keys);
    free(causal->kinds);
    free(causal->latencies);
    free(causal->limits);
    free(causal->targets);
    free(causal->points);
    free(causal->series);
    free(causal->records);
    free(causal->visits);
    *causal = (struct causal){0};
}
