/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RATES_H
#define PROF_RATES_H

/*
 * Compares the rate of progress before and after causal experiments with the
 * rate at normal speed during experiments, for the guest and for readers of its
 * stream.
 *
 * Contexts: thread. Integers only.
 */

#include <prof/gain.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* When a rate was measured. The first two are sent in the stream. */
enum prof_rate_when {
    PROF_RATE_BEFORE,
    PROF_RATE_AFTER,
    PROF_RATE_DURING,
    PROF_RATES,
};

struct prof_rates {
    uint64_t us10[PROF_RATES]; /* for a visit; [PROF_RATE_AFTER] may be 0 */
    /* Gain of experiments over before and after; a negative one means that
     * experiments are slower. */
    struct prof_gain gain[2];
    /* 1: experiments are slower, by more than 2 % and more than the interval,
     * than before and, if that is known, than after. -1: faster. 0: neither. */
    int changed;
};

/* Returns tenths of a microsecond, rounded down, of (cycles) at (hz). */
uint64_t prof_rate_us10(uint64_t cycles, uint64_t hz);

/* Compares the groups of visits in (sums), by enum prof_rate_when. Returns 0,
 * or PROF_ESTATE if too little is known; (rates) is unspecified then. */
int prof_rates_of(
    const struct prof_progress_sum sums[PROF_RATES][PROF_GAIN_GROUPS],
    uint64_t hz, struct prof_rates *rates);

#ifdef __cplusplus
}
#endif

#endif
