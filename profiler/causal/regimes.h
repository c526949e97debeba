/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_REGIMES_H
#define PROF_REGIMES_H

/*
 * Finds out whether progress jumps between two rates: the durations of visits
 * in experiments at normal speed are two clusters, far from each other. In
 * small memory, a random sample of the experiments is kept.
 *
 * Source: Vitter, Random Sampling with a Reservoir, ACM TOMS 11 (1985),
 * algorithm R.
 * Contexts: thread. Integers only.
 */

#include <stdbool.h>
#include <stdint.h>

/* With fewer, an even distribution looks like two clusters in 1 of 200 cases
 * (20 experiments) or 1 of 3,000 (32). With 64 it does not (regimes_test). */
#define PROF_REGIMES_SAMPLE 64u

/* Starts as zeros. */
struct prof_regimes_sample {
    uint32_t seen; /* experiments so far */
    uint32_t random;
    uint32_t cycles[PROF_REGIMES_SAMPLE]; /* for a visit */
};

struct prof_regimes {
    uint64_t cycles[2]; /* for a visit, the shorter time first */
    uint32_t percent;   /* of the experiments that have the shorter one */
};

/* Adds an experiment at normal speed. Without visits it does not count. */
void prof_regimes_add(struct prof_regimes_sample *sample, uint64_t cycles,
                      uint32_t visits);

/* Returns whether there are two rates. */
bool prof_regimes_find(const struct prof_regimes_sample *sample,
                       struct prof_regimes *found);

#endif
