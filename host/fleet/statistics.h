/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLEET_STATISTICS_H
#define FLEET_STATISTICS_H

/* What is judged of many guests. Nothing here fails. */

#include <stddef.h>
#include <stdint.h>

/* Mean and variance, of a sample, of (count) numbers of which the sum and the
 * sum of squares are given; those left out of the sums are 0. */
void statistics_of_sums(double sum, double squares, uint64_t count,
                        double *mean, double *variance);

struct welch {
    double t;       /* infinite where nothing varies but the means differ */
    double freedom; /* degrees of it, by Welch and Satterthwaite */
    double p;       /* two-sided */
};

/* Welch's test of whether the mean of the second is another than that of the
 * first. p is 1 if one of them has fewer than two numbers. */
struct welch statistics_welch(double base_mean, double base_variance,
                              uint64_t base_count, double mean, double variance,
                              uint64_t count);

/* The two-sided probability of a Student's t as large as (t). */
double statistics_student(double t, double freedom);

/* The median of the (count) numbers at (values), which are sorted by it; NAN of
 * none. */
double statistics_median(double *values, size_t count);

/* The median absolute deviation from (median), times 1.4826: the standard
 * deviation, if they are normal. (values) are changed. */
double statistics_mad(double *values, size_t count, double median);

#endif
