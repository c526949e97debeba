/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals of shares and of their differences.
 *
 * Score intervals, since shares in a profile are small: the textbook's p +- z
 * sqrt(p (1 - p) / n) is empty for a function with no sample and reaches below
 * 0 for one with two.
 */

#include "profile/interval.h"

#include <math.h>

/* The probability of more than (z) standard deviations, to one side. */
static double normal_tail(double z)
{
    return erfc(z / sqrt(2)) / 2;
}

double interval_z(double confidence, double comparisons)
{
    double wanted = (1 - confidence) / 2 / (comparisons > 1 ? comparisons : 1);
    double low = 0, high = 38; /* where the tail is below any double */

    for (int step = 0; step < 64; ++step) {
        double middle = (low + high) / 2;

        if (normal_tail(middle) > wanted)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

struct interval interval_share(double hits, double whole, double z)
{
    double share, middle, reach, scale;
    struct interval interval = {0, 1};

    if (!(whole > 0))
        return interval;
    share = hits / whole;
    scale = 1 + z * z / whole;
    middle = (share + z * z / (2 * whole)) / scale;
    reach = z / scale *
            sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole));
    /* at both ends the bound is exact and must not be rounded */
    if (hits > 0)
        interval.low = fmax(middle - reach, 0);
    if (hits < whole)
        interval.high = fmin(middle + reach, 1);
    return interval;
}

struct interval interval_difference(const struct interval_pair *pair, double z)
{
    struct interval base = interval_share(pair->base_hits, pair->base_whole, z);
    struct interval now = interval_share(pair->new_hits, pair->new_whole, z);
    double base_share, share;

    if (!(pair->base_whole > 0) || !(pair->new_whole > 0))
        return (struct interval){-1, 1};
    base_share = pair->base_hits / pair->base_whole;
    share = pair->new_hits / pair->new_whole;
    return (struct interval){
        share - base_share - hypot(share - now.low, base.high - base_share),
        share - base_share + hypot(now.high - share, base_share - base.low),
    };
}

double interval_certain(const struct interval *difference)
{
    if (interval_is_noise(difference))
        return 0;
    return difference->low > 0 ? difference->low : difference->high;
}

/* Whether a function with (total) samples in both profiles could change
 * significantly. One with nearly all samples could not either; it is treated as
 * if it had half, which is the conservative choice. */
static bool could_be_significant(double total,
                                 const struct interval_pair *wholes, double z)
{
    struct interval_pair grown = *wholes, shrunk = *wholes;
    struct interval up, down;

    total = fmin(total, (wholes->base_whole + wholes->new_whole) / 2);
    grown.new_hits = fmin(total, wholes->new_whole);
    grown.base_hits = total - grown.new_hits;
    shrunk.base_hits = fmin(total, wholes->base_whole);
    shrunk.new_hits = total - shrunk.base_hits;
    up = interval_difference(&grown, z);
    down = interval_difference(&shrunk, z);
    return !interval_is_noise(&up) || !interval_is_noise(&down);
}

/* How many of the (count) could change significantly: the first so many. */
static size_t count_possible(const double *totals, size_t count,
                             const struct interval_pair *wholes, double z)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (could_be_significant(totals[middle], wholes, z))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* More comparisons widen each interval, and fewer functions can then change
 * significantly: the smallest number that is consistent. */
double interval_comparisons(const double *totals, size_t count,
                            const struct interval_pair *wholes,
                            double confidence)
{
    size_t low = 1, high = count > 1 ? count : 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double z = interval_z(confidence, (double)middle);

        if (count_possible(totals, count, wholes, z) <= middle)
            high = middle;
        else
            low = middle + 1;
    }
    return (double)low;
}
