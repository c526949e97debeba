/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SHARE_H
#define PROF_SHARE_H

/*
 * Shares in hundredths of a per cent that add up.
 *
 * If each share were rounded by itself, a column could add up to 99.98 %.
 * Instead the running sums are rounded, and a share is the difference of two of
 * them (cumulative rounding). Its error is below 0.01 %, and a column that
 * covers the whole adds up to exactly 100.00 %.
 */

#include <stdint.h>

struct prof_share_sum {
    uint64_t whole; /* 100 % */
    uint64_t sum;   /* of the parts so far */
    uint32_t given; /* sum of their shares so far, 1/100 % */
};

#define PROF_SHARE_ALL 10000u /* 100.00 % */

/* Returns (part) / (whole) in 1/100 %, rounded, where part <= whole; 0 if
 * (whole) is 0. Shifts both right until the product fits into 64 bits. */
uint32_t prof_share_of(uint64_t part, uint64_t whole);

/* Returns the share of the next (part) in 1/100 %, by cumulative rounding. */
uint32_t prof_share_next(struct prof_share_sum *share, uint64_t part);

/* The confidence interval of a share, in 1/100 %. */
struct prof_share_interval {
    uint32_t low, high;
};

/* Returns the 95 % confidence interval (Wilson's) of (share), in 1/100 %, which
 * is based on (hits) of all (samples); 1 <= hits <= 1000, samples < 2^50. */
struct prof_share_interval prof_share_interval(uint32_t share, uint32_t hits,
                                               uint64_t samples);

#endif
