/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands to guests: rates that keep to a budget.
 *
 * A budget is samples in an hour of all guests of a service. It is shared by
 * their CPUs, and shared anew as guests come and go. Weights are times, so a
 * profile is of the same time at whatever rate it was taken.
 */

#include "collect/parts.h"

#include <string.h>

#define BUDGET_SECONDS 5
#define HOUR 3600
#define RATE_MAX 20000
#define RATE_TOLERANCE 0.05

static bool is_of(const struct guest_boot *guest, const char *service)
{
    return guest->line != NULL && guest->line->two_way &&
           guest_serves(guest, service);
}

/* ---- budgets */

static void share_budget(struct collector *collector,
                         const struct collector_budget *budget)
{
    size_t cpus = 0;
    double hz;

    for (size_t i = 0; i < collector->guest_count; ++i)
        if (is_of(collector->guests[i], budget->service))
            cpus += collector->guests[i]->rollup.cpu_count;
    if (cpus == 0)
        return;
    hz = budget->per_hour / HOUR / (double)cpus;
    hz = hz < 1 ? 1 : hz > RATE_MAX ? RATE_MAX : hz;
    for (size_t i = 0; i < collector->guest_count; ++i) {
        struct guest_boot *guest = collector->guests[i];
        double now = guest->rollup.rate_mhz / 1000.0;

        if (!is_of(guest, budget->service) || guest->capture != NULL ||
            guest->rollup.rate_mhz == 0 ||
            (now >= hz * (1 - RATE_TOLERANCE) - 0.5 &&
             now <= hz * (1 + RATE_TOLERANCE) + 0.5))
            continue;
        guest->asked_mhz = (uint32_t)(hz * 1000);
        guest_set_rate(collector, guest, (unsigned)hz);
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
