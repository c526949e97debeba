/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INTERVAL_H
#define INTERVAL_H

/*
 * How far a share of samples can be trusted. Of (whole) samples (hits) were in
 * a function; the true share lies in an interval around hits / whole, in so
 * many cases of a hundred as the confidence says. What a change between two
 * profiles is worth follows from that: where the interval of the difference
 * holds 0, chance alone explains it, and it is noise.
 *
 * Counts are doubles, since a weight of time is made into samples by its share
 * of them. Shares are fractions, 0 to 1. A (z) is how many standard deviations
 * of the normal distribution the interval reaches to each side. Nothing here
 * allocates or fails; a whole of 0 says nothing, and gets the widest interval
 * there is.
 */

#include <stdbool.h>
#include <stddef.h>

struct interval {
    double low;
    double high;
};

/* A function's samples in two profiles, and how many they have in all. */
struct interval_pair {
    double base_hits;
    double base_whole;
    double new_hits;
    double new_whole;
};

/* The z of a two-sided interval at (confidence), above 0 and below 1: of 0.95
 * it is 1.96. (comparisons) intervals are then all right together with that
 * confidence (Bonferroni); 1 asks for one interval alone. */
double interval_z(double confidence, double comparisons);

/* Of one share: Wilson's score interval. */
struct interval interval_share(double hits, double whole, double z);

/* Of the new share less the base's: Newcombe's hybrid of two score intervals
 * (Statistics in Medicine 17, 1998, pages 873-890, method 10). */
struct interval interval_difference(const struct interval_pair *pair, double z);

/* Whether chance explains the difference. */
static inline bool interval_is_noise(const struct interval *difference)
{
    return difference->low <= 0 && difference->high >= 0;
}

/* The change that is certain: the bound next to 0, or 0 where it is noise. */
double interval_certain(const struct interval *difference);

/*
 * How many comparisons must be reckoned with when (count) functions are
 * compared, of which (totals) are the samples in both profiles together, sorted
 * from large to small; the wholes are those of (pair). Functions with so few
 * samples that not even all of them on one side would be news cannot raise a
 * false alarm, and are not counted (Tarone, Biometrics 46, 1990, pages
 * 515-522): a long tail of functions with one sample each costs nothing.
 */
double interval_comparisons(const double *totals, size_t count,
                            const struct interval_pair *wholes,
                            double confidence);

#endif
