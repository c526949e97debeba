/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IDEAL_H
#define IDEAL_H

/*
 * Samplers that cost nothing and see everything: as many as IDEALS, each with
 * the period of the one that is judged, varied like its own (by half of it to
 * either side, anew after 32 samples) but from another seed. They look at the
 * plugin's own stack of calls, at their own times. How often their shares miss
 * the truth is what chance alone does to a sampler of this kind on this very
 * program: shares that depend on one another, as those with all callees do,
 * and programs that change as they run, are all in it.
 */

#include <stdint.h>
#include <stdio.h>

#define IDEALS 128u

struct function;

/* What the samplers have found of one function; times are in instructions. */
struct ideal_sums {
    uint32_t self[IDEALS];
    uint32_t total[IDEALS];
    uint64_t self_time[IDEALS];
    uint64_t total_time[IDEALS];
};

/* Samples each (period) instructions of truth_clock() from now on, in the mean;
 * 0: never. */
void ideals_begin(uint64_t period);
void ideals_end(void);

/* The clock at which the first of them is due; none is before the begin. */
extern uint64_t ideals_due;

/* Takes all samples that are due before the clock is (until). At clock + i,
 * (of)[i] is executed. */
void ideals_take(uint64_t until, struct function *const *of);

/* Writes ', "ideals": [SAMPLES, ...], "ideal_times": [...]', their sums. */
void ideals_print(FILE *out);

/* The same of one function; nothing where it was never met, (sums) NULL. */
void ideal_sums_print(FILE *out, const struct ideal_sums *sums);

#endif
