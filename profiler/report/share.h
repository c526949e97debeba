/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SHARE_H
#define PROF_SHARE_H

/*
 * Shares in hundredths of a per cent that add up.
 *
 * If each share were rounded by itself, a column could sum to 99.98 %. Here the
 * running sums are rounded, and a share is the difference of two of them
 * (cumulative rounding). It is off by less than 0.01 %, and a column that
 * covers the whole adds up to exactly 100.00 %.
 */

#include <stdint.h>

struct prof_share_sum {
    uint64_t whole; /* 100 % */
    uint64_t sum;   /* of the parts so far */
    uint32_t given; /* sum of their shares so far, 1/100 % */
};

#define PROF_SHARE_ALL 10000u /* 100.00 % */

/* (part) / (whole) in 1/100 %, rounded; part <= whole. 0 if (whole) is 0. Both
 * are shifted right until the product fits into 64 bits. */
uint32_t prof_share_of(uint64_t part, uint64_t whole);

/* The share of the next (part) in 1/100 %, by cumulative rounding. */
uint32_t prof_share_next(struct prof_share_sum *share, uint64_t part);

/* The ends of a share's interval, 1/100 %. */
struct prof_share_interval {
    uint32_t low, high;
};

/* The 95 % interval (Wilson's) of (share), in 1/100 %, that rests on (hits) of
 * all (samples); 1 <= hits <= 1000, and samples are fewer than 2^50. */
struct prof_share_interval prof_share_interval(uint32_t share, uint32_t hits,
                                               uint64_t samples);

#endif
