/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long requests took, in buckets that are wider for greater values: sixteen
 * for each doubling, so that a value is kept to within 1/16 of itself.
 */

#include "load.h"

#include <kernel/clock.h>
#include <kernel/console.h>

#define SUB 16u
#define BUCKETS (64u * SUB)
#define PER_MILLION 1000000u

static uint32_t buckets[BUCKETS];
static uint64_t count, sum, greatest;

static unsigned bucket_of(uint64_t value)
{
    unsigned power = 0;

    if (value < SUB)
        return (unsigned)value;
    while (value >> power >= 2 * SUB)
        power++;
    return (power + 1) * SUB + (unsigned)(value >> power) - SUB;
}

/* The greatest value of a bucket. */
static uint64_t value_of(unsigned bucket)
{
    unsigned power = bucket / SUB;

    if (power == 0)
        return bucket;
    return ((uint64_t)(SUB + bucket % SUB + 1) << (power - 1)) - 1;
}

void load_figures_add(uint64_t cycles)
{
    buckets[bucket_of(cycles)]++;
    count++;
    sum += cycles;
    if (cycles > greatest)
        greatest = cycles;
}

/* The least value that is not exceeded by (ppm) of all, in us. */
static unsigned at(uint32_t ppm)
{
    uint64_t wanted = (count * ppm + PER_MILLION - 1) / PER_MILLION, seen = 0;
    uint64_t value = greatest;

    for (unsigned i = 0; i < BUCKETS; i++) {
        seen += buckets[i];
        if (seen >= wanted) {
            value = value_of(i) < greatest ? value_of(i) : greatest;
            break;
        }
    }
    return (unsigned)(value * PER_MILLION / clock_tsc_hz());
}

void load_figures_print(const char *what)
{
    if (count == 0)
        return;
    console_line("load: us per %s: mean %u, 50 %% %u, 90 %% %u, 99 %% %u, "
                 "99.9 %% %u, 100 %% %u",
                 what, (unsigned)(sum / count * PER_MILLION / clock_tsc_hz()),
                 at(500000), at(900000), at(990000), at(999000), at(1000000));
}
