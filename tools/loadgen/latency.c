/* SPDX-License-Identifier: Apache-2.0 */
#include "latency.h"

#include <math.h>

/* Values below LATENCY_SUB have a bucket each. Above, a value is shifted right
 * until it lies in [SUB, 2 * SUB): the shift chooses a row of SUB buckets. */
static uint32_t bucket_of(uint64_t value)
{
    uint32_t shift = 0;

    while (value >> shift >= 2 * LATENCY_SUB)
        shift++;
    return shift * LATENCY_SUB + (uint32_t)(value >> shift);
}

/* The greatest value that lies in the bucket. */
static uint64_t top_of(uint32_t bucket)
{
    uint32_t shift;

    if (bucket < 2 * LATENCY_SUB)
        return bucket;
    shift = bucket / LATENCY_SUB - 1;
    return (((uint64_t)bucket - shift * LATENCY_SUB + 1) << shift) - 1;
}

static void add_many(struct latency *latency, uint64_t value_us, uint64_t count)
{
    latency->counts[bucket_of(value_us)] += count;
    latency->count += count;
    latency->sum_us += value_us * count;
    if (count > 0 && value_us > latency->max_us)
        latency->max_us = value_us;
}

void latency_add(struct latency *latency, uint64_t value_us)
{
    add_many(latency, value_us, 1);
}

static void add_corrected(struct latency *latency, uint64_t value_us,
                          uint64_t interval_us, uint64_t count)
{
    add_many(latency, value_us, count);
    if (interval_us == 0)
        return;
    while (value_us >= 2 * interval_us) {
        value_us -= interval_us;
        add_many(latency, value_us, count);
    }
}

void latency_add_corrected(struct latency *latency, uint64_t value_us,
                           uint64_t interval_us)
{
    add_corrected(latency, value_us, interval_us, 1);
}

void latency_correct(struct latency *to, const struct latency *from,
                     uint64_t interval_us)
{
    for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
        uint64_t value_us = top_of(i);

        if (from->counts[i] == 0)
            continue;
        if (value_us > from->max_us)
            value_us = from->max_us;
        add_corrected(to, value_us, interval_us, from->counts[i]);
    }
}

uint64_t latency_at(const struct latency *latency, double part)
{
    uint64_t wanted = (uint64_t)ceil(part * (double)latency->count);
    uint64_t seen = 0;

    if (latency->count == 0)
        return 0;
    if (wanted == 0)
        wanted = 1;
    for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
        seen += latency->counts[i];
        if (seen >= wanted)
            return top_of(i) < latency->max_us ? top_of(i) : latency->max_us;
    }
    return latency->max_us;
}
