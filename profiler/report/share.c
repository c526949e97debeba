/* SPDX-License-Identifier: Apache-2.0 */

#include "report/share.h"

#include "base/cpu.h"

uint32_t prof_share_of(uint64_t part, uint64_t whole)
{
    while (whole >> 32 != 0) {
        part >>= 1;
        whole >>= 1;
    }
    if (whole == 0)
        return 0;
    return (uint32_t)prof_divide(part * PROF_SHARE_ALL + whole / 2,
                                 (uint32_t)whole);
}

uint32_t prof_share_next(struct prof_share_sum *share, uint64_t part)
{
    uint32_t before = share->given;

    share->sum += part;
    share->given = prof_share_of(share->sum, share->whole);
    return share->given - before;
}

static uint32_t square_root(uint32_t square)
{
    uint32_t found = 0;

    for (uint32_t bit = 1u << 15; bit != 0; bit >>= 1)
        if ((found + bit) * (found + bit) <= square)
            found += bit;
    return found;
}

/* (hundredths) / 100 / hits * share * part / 10000, rounded. */
static uint32_t end_of(uint32_t hundredths, uint32_t hits, uint32_t weight)
{
    uint32_t scale = hits * (PROF_SHARE_ALL * 100);

    return (uint32_t)prof_divide((uint64_t)hundredths * weight + scale / 2,
                                 scale);
}

/* With h hits of n, and z = 1.96, the ends are
 * (h + z^2/2 -+ z sqrt(h (1 - h/n) + z^2/4)) / (n + z^2): here all in 1/100.
 * They are in proportion to the share, whatever a hit weighs. As there are few
 * hits, all but the last product fits into 32 bits. */
struct prof_share_interval prof_share_interval(uint32_t share, uint32_t hits,
                                               uint64_t samples)
{
    uint32_t misses = prof_share_of(samples - hits, samples);
    uint32_t reach = square_root(hits * misses + 9604) * 196 / 100;
    uint32_t middle = hits * 100 + 192;
    uint32_t low = middle > reach ? middle - reach : 0;
    uint32_t weight = share * prof_share_of(samples * 100, samples * 100 + 384);
    uint32_t high = end_of(middle + reach, hits, weight);

    return (struct prof_share_interval){
        .low = end_of(low, hits, weight),
        .high = high < PROF_SHARE_ALL ? high : PROF_SHARE_ALL,
    };
}
