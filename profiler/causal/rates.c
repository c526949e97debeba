/* SPDX-License-Identifier: Apache-2.0 */
#include <prof/rates.h>

#include "base/cpu.h"

#include <prof/error.h>

#define CHANGED_PPM 20000
#define TENTHS_OF_US 10000000u

uint64_t prof_rate_us10(uint64_t cycles, uint64_t hz)
{
    while (hz > UINT32_MAX || cycles > UINT64_MAX / TENTHS_OF_US) {
        hz >>= 1;
        cycles >>= 1;
    }
    return prof_divide(cycles * TENTHS_OF_US, hz == 0 ? 1 : (uint32_t)hz);
}

static uint64_t us10_of(const struct prof_progress_sum *groups, uint64_t hz)
{
    struct prof_progress_sum all = {0};

    for (uint32_t i = 0; i < PROF_GAIN_GROUPS; i++)
        prof_gain_sum(&all, &groups[i]);
    return all.visits == 0
               ? 0
               : prof_rate_us10(prof_divide(all.cycles, all.visits), hz);
}

/* As changed in struct prof_rates, of one of the gains. */
static int compared(const struct prof_gain *gain)
{
    uint32_t size = (uint32_t)(gain->ppm < 0 ? -gain->ppm : gain->ppm);

    if (size <= CHANGED_PPM || size <= gain->interval_ppm)
        return 0;
    return gain->ppm < 0 ? 1 : -1;
}

/* Where the program itself has changed its rate meanwhile, experiments may be
 * between the two. */
int prof_rates_of(
    const struct prof_progress_sum sums[PROF_RATES][PROF_GAIN_GROUPS],
    uint64_t hz, struct prof_rates *rates)
{
    const struct prof_progress_sum *during = sums[PROF_RATE_DURING];

    if (prof_gain_of(sums[PROF_RATE_BEFORE], during,
                     &rates->gain[PROF_RATE_BEFORE]) != 0)
        return PROF_ESTATE;
    rates->us10[PROF_RATE_BEFORE] = us10_of(sums[PROF_RATE_BEFORE], hz);
    rates->us10[PROF_RATE_DURING] = us10_of(during, hz);
    rates->us10[PROF_RATE_AFTER] = 0;
    rates->changed = compared(&rates->gain[PROF_RATE_BEFORE]);
    if (prof_gain_of(sums[PROF_RATE_AFTER], during,
                     &rates->gain[PROF_RATE_AFTER]) != 0)
        return 0;
    rates->us10[PROF_RATE_AFTER] = us10_of(sums[PROF_RATE_AFTER], hz);
    if (compared(&rates->gain[PROF_RATE_AFTER]) != rates->changed)
        rates->changed = 0;
    return 0;
}
