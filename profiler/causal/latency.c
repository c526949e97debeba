/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/latency.h"

#include "base/cpu.h"

#define RANGES PROF_LATENCY_RANGES
#define LAST (PROF_LATENCY_ROWS * RANGES - 1)
#define PERMILLE 1000u

void prof_latency_add(struct prof_latency_sum *sum, uint64_t cycles)
{
    uint32_t octave = 0, at;

    while (octave < PROF_LATENCY_ROWS && cycles >> octave >= 2 * RANGES)
        octave++;
    at = octave * RANGES + (uint32_t)(cycles >> octave);
    sum->range[at < LAST ? at : LAST]++;
    sum->cycles += cycles;
    sum->count++;
}

uint64_t prof_latency_quantile(const struct prof_latency_sum *sum,
                               uint32_t permille)
{
    uint64_t wanted = (uint64_t)sum->count * permille, part;
    uint64_t below = 0; /* in thousandths, as (wanted) is */
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
