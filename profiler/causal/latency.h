/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LATENCY_H
#define PROF_LATENCY_H

/*
 * How long requests take, in virtual cycles: a log-linear histogram with 32
 * ranges of the same width in each octave, so that a range is 1/32 as wide as
 * its lowest value. Values of 2^40 cycles and more count as the greatest.
 * Contexts: thread.
 */

#include <prof/causal.h>
#include <stdint.h>

#define PROF_LATENCY_RANGES 32u
#define PROF_LATENCY_ROWS 36u /* values below 32, and octaves from there on */

struct prof_latency_sum {
    uint64_t cycles; /* of all */
    uint32_t count;
    uint32_t range[PROF_LATENCY_ROWS * PROF_LATENCY_RANGES];
};

void prof_latency_add(struct prof_latency_sum *sum, uint64_t cycles);

/* (permille) of the values are below that; 0 without any. In the range that
 * it falls in, values are taken to be at equal distances. */
uint64_t prof_latency_quantile(const struct prof_latency_sum *sum,
                               uint32_t permille);

/* The interval that the quantile of so many requests is in, by 95 %, if they
 * know nothing of each other; zeros without any. */
struct prof_latency_interval {
    uint64_t low, high;
};
struct prof_latency_interval
prof_latency_interval(const struct prof_latency_sum *sum, uint32_t permille);

#endif
