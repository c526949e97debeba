/* SPDX-License-Identifier: Apache-2.0 */

#include "fleet/statistics.h"

#include <math.h>
#include <stdlib.h>

/* Sums of shares are exact to some 1e-15 of 1, and depend on their order. A
 * difference of less is none. */
#define SAME 1e-12

void statistics_of_sums(double sum, double squares, uint64_t count,
                        double *mean, double *variance)
{
    double number = (double)count;

    *mean = count > 0 ? sum / number : 0;
    *variance = count > 1 ? (squares - sum * *mean) / (number - 1) : 0;
    if (!(*variance > SAME * SAME))
        *variance = 0;
}

/* The continued fraction of the incomplete beta function, by Lentz's method
 * (DLMF 8.17.22). */
static double beta_fraction(double x, double a, double b)
{
    static const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), value;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    value = d;
    for (int i = 1; i < 500; ++i) {
        double m = i, step;

        for (int odd = 0; odd < 2; ++odd) {
            double term =
                odd == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                         : -(a + m) * (a + b + m) * x /
                               ((a + 2 * m) * (a + 2 * m + 1));

            d = 1 + term * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + term / c;
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            value *= step;
        }
        if (fabs(step - 1) < 1e-14)
            break;
    }
    return value;
}

/* The regularised incomplete beta function. */
static double beta(double x, double a, double b)
{
    double front;

    if (!(x > 0))
        return 0;
    if (x >= 1)
        return 1;
    front =
        exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2)
               ? front * beta_fraction(x, a, b) / a
               : 1 - front * beta_fraction(1 - x, b, a) / b;
}

double statistics_student(double t, double freedom)
{
    if (isinf(t))
        return 0;
    if (!(freedom > 0))
        return 1;
    return beta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

struct welch statistics_welch(double base_mean, double base_variance,
                              uint64_t base_count, double mean, double variance,
                              uint64_t count)
{
    struct welch welch = {.p = 1};
    double base = base_count > 0 ? base_variance / (double)base_count : 0;
    double now = count > 0 ? variance / (double)count : 0;
    double error = base + now, difference = mean - base_mean;

    if (base_count < 2 || count < 2)
        return welch;
    if (fabs(difference) <= SAME)
        return welch;
    if (error <= 0) {
        welch.t = copysign(INFINITY, difference);
        welch.freedom = (double)(base_count + count - 2);
    } else {
        welch.t = difference / sqrt(error);
        welch.freedom = error * error /
                        (base * base / (double)(base_count - 1) +
                         now * now / (double)(count - 1));
    }
    welch.p = statistics_student(welch.t, welch.freedom);
    return welch;
}

static int by_size(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;

    return (a > b) - (a < b);
}

double statistics_median(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double statistics_mad(double *values, size_t count, double median)
{
    for (size_t i = 0; i < count; ++i)
        values[i] = fabs(values[i] - median);
    return 1.4826 * statistics_median(values, count);
}
