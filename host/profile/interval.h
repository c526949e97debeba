/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_INTERVAL_H
#define PROFILE_INTERVAL_H

/*
 * How far a share of samples can be trusted. Of (whole) samples (hits) were in
 * a function; the true share lies in an interval around hits / whole with the
 * given confidence. The same holds for a change between two profiles: if the
 * interval of the difference contains 0, the change is not significant; it is
 * noise.
 *
 * Counts are doubles, since a weight of time is converted to samples by its
 * share. Shares are fractions, 0 to 1. A (z) is how many standard deviations of
 * the normal distribution the interval reaches to each side. Nothing here
 * allocates or fails; for a whole of 0 the result is the widest possible
 * interval.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
    double low;
    double high;
};

/* Fewer samples are marked: their 95 % interval exceeds half of the share. */
#define INTERVAL_FEW 16u

static inline bool interval_is_few(uint64_t samples)
{
    return samples > 0 && samples < INTERVAL_FEW;
}

/* A function's samples in two profiles, and the profiles' totals. */
struct interval_pair {
    double base_hits;
    double base_whole;
    double new_hits;
    double new_whole;
};

/* The z of a two-sided interval at (confidence), between 0 and 1 exclusive:
 * 1.96 for 0.95. With that confidence all of (comparisons) intervals are right
 * together (Bonferroni); 1 is for a single interval. */
double interval_z(double confidence, double comparisons);

/* Of one share: Wilson's score interval. */
struct interval interval_share(double hits, double whole, double z);

/* Of the new share minus the base's: Newcombe's hybrid of two score intervals
 * (Statistics in Medicine 17, 1998, pages 873-890, method 10). */
struct interval interval_difference(const struct interval_pair *pair, double z);

/* Whether the difference may be due to chance. */
static inline bool interval_is_noise(const struct interval *difference)
{
    return difference->low <= 0 && difference->high >= 0;
}

/* The certain part of the change: the bound nearer to 0, or 0 for noise. */
double interval_certain(const struct interval *difference);

/*
 * How many comparisons to correct for when (count) functions are compared.
 * (totals) are their samples in both profiles together, largest first; the
 * wholes are those of (pair). Functions with so few samples that they could not
 * be significant even with all of them on one side cannot raise a false alarm
 * and are not counted (Tarone, Biometrics 46, 1990, pages 515-522): a long tail
 * of functions with one sample each costs nothing.
 */
double interval_comparisons(const double *totals, size_t count,
                            const struct interval_pair *wholes,
                            double confidence);

#endif
