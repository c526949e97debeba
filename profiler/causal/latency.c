/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/latency.h"

#include "base/cpu.h"

#include <prof/gain.h>

#define RANGES PROF_LATENCY_RANGES
#define LAST (PROF_LATENCY_ROWS * RANGES - 1)
#define PERMILLE 1000u

void prof_latency_add(struct prof_latency_sum *sum, uint64_t cycles)
{
    uint32_t low = (uint32_t)cycles, octave, at;

    if (low == cycles) { /* most often: fewer instructions on i386 */
        octave = 26 - (uint32_t)__builtin_clz(low | RANGES);
        at = octave * RANGES + (low >> octave);
    } else {
        octave = 58 - (uint32_t)__builtin_clzll(cycles);
        if (octave > PROF_LATENCY_ROWS)
            octave = PROF_LATENCY_ROWS;
        at = octave * RANGES + (uint32_t)(cycles >> octave);
    }
    sum->range[at < LAST ? at : LAST]++;
    sum->cycles += cycles;
    sum->count++;
}

/* (wanted) thousandths of a value are below that. */
static uint64_t value_at(const struct prof_latency_sum *sum, uint64_t wanted)
{
    uint64_t below = 0, part; /* in thousandths, as (wanted) is */
    uint32_t at = 0, octave;

    if (sum->count == 0)
        return 0;
    while (at < LAST && (sum->range[at] == 0 ||
                         below + (uint64_t)sum->range[at] * PERMILLE < wanted))
        below += (uint64_t)sum->range[at++] * PERMILLE;
    octave = at < 2 * RANGES ? 0 : at / RANGES - 1;
    part = (uint64_t)(at - octave * RANGES) << octave;
    if (sum->range[at] == 0)
        return part;
    /* thousandths of the range, in 1/1024 */
    return part +
           (prof_divide(prof_divide((wanted - below) << 10, sum->range[at])
                            << octave,
                        PERMILLE) >>
            10);
}

uint64_t prof_latency_quantile(const struct prof_latency_sum *sum,
                               uint32_t permille)
{
    return value_at(sum, (uint64_t)sum->count * permille);
}

/* How many values are below the quantile is a binomial. */
struct prof_latency_interval
prof_latency_interval(const struct prof_latency_sum *sum, uint32_t permille)
{
    uint64_t all = (uint64_t)sum->count * PERMILLE;
    uint64_t middle = (uint64_t)sum->count * permille;
    uint64_t variance = middle * (PERMILLE - permille);
    uint64_t reach = prof_divide((uint64_t)prof_gain_root(variance) * 196, 100);

    return (struct prof_latency_interval){
        value_at(sum, reach < middle ? middle - reach : 0),
        value_at(sum, reach < all - middle ? middle + reach : all),
    };
}
