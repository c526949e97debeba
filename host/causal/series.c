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

static void put_part(struct causal_part parts[CAUSAL_PARTS_MAX],
                     uint32_t *count, struct causal_part part)
{
    uint32_t at = *count;

    if (part.part <= 0)
        return;
    for (; at > 0 && parts[at - 1].part < part.part; --at)
        parts[at] = parts[at - 1];
    parts[at] = part;
    ++*count;
}

/* Locks are besides the sums of kinds; what else has a name is in them. */
uint32_t causal_parts(const struct causal *causal, uint32_t target,
                      uint32_t speedup,
                      struct causal_part parts[CAUSAL_PARTS_MAX])
{
    const uint32_t found =
        index_find(&causal->limit_keys, causal_key(target, speedup, 0));
    const struct causal_limit *limit;
    double rest[CAUSAL_LIMITS] = {0}, all = 0;
    uint32_t count = 0;

    if (found == INDEX_NONE)
        return 0;
    limit = &causal->limits[found];
    for (unsigned i = 0; i < CAUSAL_SUMS; ++i)
        rest[i] = (double)limit->cycles[i];
    for (unsigned i = 0; i < CAUSAL_WAITED_MAX; ++i) {
        const struct causal_waited *waited = &causal->waited[i];

        if (waited->name == 0)
            continue;
        rest[waited->kind] -= (double)limit->waited[i];
        put_part(parts, &count,
                 (struct causal_part){
                     waited->kind, strings_text(&causal->strings, waited->name),
                     (double)limit->waited[i]});
    }
    for (uint8_t i = 0; i < CAUSAL_SUMS; ++i)
        put_part(parts, &count, (struct causal_part){i, NULL, rest[i]});
    for (uint32_t i = 0; i < count; ++i)
        all += parts[i].part;
    for (uint32_t i = 0; i < count; ++i)
        parts[i].part /= all;
    return count;
}

const char *causal_part_name(const struct causal_part *part, char *text)
{
    static const char *const kinds[CAUSAL_LIMITS] = {
        "timers", "devices", "peers", "arrivals", "CPU", "locks"};

    if (part->name == NULL)
        return kinds[part->kind];
    snprintf(text, CAUSAL_TEXT_MAX, "%s%.120s",
             part->kind == 0             ? "timer "
             : part->kind >= CAUSAL_SUMS ? "lock "
                                         : "",
             part->name);
    return text;
}

uint64_t causal_us10(const struct causal *causal, uint64_t cycles)
{
    return checked_scale(cycles, TENTHS * US_PER_S,
                         causal->tsc_hz == 0 ? US_PER_S : causal->tsc_hz);
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
