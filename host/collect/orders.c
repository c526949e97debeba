/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands to guests: rates that keep to a budget.
 *
 * A budget is samples in an hour of all guests of a service. It is shared by
 * their CPUs, and shared anew as guests come and go. Rates are whole numbers:
 * where the share is none, some guests get the next lower one and some the next
 * higher one. Weights are times, so a profile is of the same time at whatever
 * rate it was taken.
 */

#include "collect/parts.h"

#include <math.h>
#include <string.h>

#define BUDGET_SECONDS 5
#define HOUR 3600
#define RATE_MAX 20000
#define RATE_TOLERANCE 0.05 /* of a guest's clock */
#define HZ_TOLERANCE 0.5    /* and no less than this */

static bool is_of(const struct guest_boot *guest, const char *service)
{
    return guest->line != NULL && guest->line->two_way &&
           guest_serves(guest, service);
}

/* ---- budgets */

static bool has_rate(const struct guest_boot *guest, double hz)
{
    return fabs(guest->rollup.rate_mhz / 1000.0 - hz) <=
           fmax(hz * RATE_TOLERANCE, HZ_TOLERANCE);
}

/* The rate of the next guest, whose share is (hz): of the whole numbers around
 * it that which brings *(left), samples a second that those before have left of
 * their shares, nearer to 0. */
static unsigned rate_of(const struct guest_boot *guest, double hz, double *left)
{
    double cpus = (double)guest->rollup.cpu_count;
    double low = floor(hz), high = ceil(hz);
    double rate = hz + *left / cpus < (low + high) / 2 ? low : high;

    *left += (hz - rate) * cpus;
    return (unsigned)rate;
}

static void share_budget(struct collector *collector,
                         const struct collector_budget *budget)
{
    size_t cpus = 0;
    double hz, left = 0;

    for (size_t i = 0; i < collector->guest_count; ++i)
        if (is_of(collector->guests[i], budget->service))
            cpus += collector->guests[i]->rollup.cpu_count;
    if (cpus == 0)
        return;
    hz = budget->per_hour / HOUR / (double)cpus;
    hz = hz < 1 ? 1 : hz > RATE_MAX ? RATE_MAX : hz;
    for (size_t i = 0; i < collector->guest_count; ++i) {
        struct guest_boot *guest = collector->guests[i];
        unsigned rate;

        if (!is_of(guest, budget->service) || guest->capture != NULL ||
            guest->rollup.rate_mhz == 0)
            continue;
        rate = rate_of(guest, hz, &left);
        if (!has_rate(guest, rate))
            guest_set_rate(collector, guest, rate);
    }
}

void orders_tick(struct collector *collector, int64_t now)
{
    const struct collector_options *options = &collector->options;

    if (now < collector->budgeted + BUDGET_SECONDS)
        return;
    collector->budgeted = now;
    for (size_t i = 0; i < options->budget_count; ++i)
        share_budget(collector, &options->budgets[i]);
}
