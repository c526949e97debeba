/* SPDX-License-Identifier: Apache-2.0 */

/* Shares that add up; see share.h. */

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

/* The square root of (square), rounded down. */
static uint64_t root(uint64_t square)
{
    uint64_t found = 0;

    for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1)
        if ((found + bit) * (found + bit) <= square)
            found += bit;
    return found;
}

/* With h hits of n, and z = 1.96, the ends are
 * (h + z^2/2 -+ z sqrt(h (1 - h/n) + z^2/4)) / (n + z^2): here all in 1/100.
 * They are in proportion to the share, whatever a hit weighs. */
struct prof_share_interval prof_share_interval(uint32_t share, uint32_t hits,
                                               uint64_t samples)
{
    uint64_t misses = (uint64_t)prof_share_of(samples - hits, samples);
    uint64_t reach = prof_divide(root(hits * misses + 9604) * 196, 100);
    uint64_t middle = hits * (uint64_t)100 + 192;
    uint64_t low = middle > reach ? middle - reach : 0, high = middle + reach;
    uint64_t part = prof_share_of(samples * 100, samples * 100 + 384);
    uint32_t scale = hits * (PROF_SHARE_ALL * 100);

    low = prof_divide(low * share * part + scale / 2, scale);
    high = prof_divide(high * share * part + scale / 2, scale);
    return (struct prof_share_interval){
        .low = (uint32_t)low,
        .high = high < PROF_SHARE_ALL ? (uint32_t)high : PROF_SHARE_ALL,
    };
}
