/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SHARE_H
#define PROF_SHARE_H

/*
 * Shares in hundredths of a per cent that add up.
 *
 * Rounding each share by itself makes columns that sum to 99.98 %. Here the
 * sums are rounded instead, and a share is the difference of two of them: it
 * is off by less than a hundredth, and whatever covers the whole comes to
 * 100.00 % to the last digit.
 */

#include "cpu.h"

#include <stdint.h>

struct prof_share_sum {
    uint64_t whole; /* what 100 % is */
    uint64_t sum;   /* of the parts so far */
    uint32_t given; /* their shares so far, 1/100 % */
};

#define PROF_SHARE_ALL 10000u /* 100.00 % */

/* (part) / (whole) in 1/100 %, rounded; 0 of nothing. part <= whole. */
static inline uint32_t prof_share_of(uint64_t part, uint64_t whole)
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

/* The share of the next (part), so that all of them add up. */
static inline uint32_t prof_share_next(struct prof_share_sum *share,
                                       uint64_t part)
{
    uint32_t before = share->given;

    share->sum += part;
    share->given = prof_share_of(share->sum, share->whole);
    return share->given - before;
}

#endif
