/* SPDX-License-Identifier: Apache-2.0 */

/* What experiments have said. */

#include "causal/causal.h"
#include "causal/own.h"

#include "base/cpu.h"

#include <prof/error.h>

#define MILLION 1000000u

struct prof_latency_sum *
prof_causal_latency_sum(uint32_t target, uint32_t speedup, uint32_t kind)
{
    uint32_t series =
        target * prof_causal.experiments.settings.speedups + speedup;

    return &prof_causal.latencies[series * prof_causal.kinds + kind];
}

struct prof_limit_sum *prof_causal_limit_sum(uint32_t target, uint32_t speedup)
{
    return &prof_causal
                .limits[target * prof_causal.experiments.settings.speedups +
                        speedup];
}

void prof_causal_done(struct prof_latency *latency, uint64_t began)
{
    struct prof_own_guard guard;
    uint64_t time;

    if (latency->number == 0 || !prof_causal.experiments.counts)
        return;
    guard = prof_own_open();
    time = prof_causal_both().virtual_time;
    if (time >= began)
        prof_latency_add(&prof_causal.latency[latency->number - 1],
                         time - began);
    prof_own_close(guard);
}

uint64_t prof_causal_due(void)
{
    return prof_causal_on ? prof_causal.due : prof_causal_time();
}

int prof_causal_gain(const struct prof_target *target, uint32_t speedup,
                     const struct prof_progress *point, struct prof_gain *gain)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    if (prof_causal.memory == NULL || target->number == 0 ||
        target->number > all->settings.targets || point->number == 0 ||
        point->number > all->settings.points ||
        speedup + 1 >= all->settings.speedups)
        return PROF_EVALUE;
    if (prof_gain_of(prof_experiments_sums(all, target->number - 1, 0,
                                           point->number - 1),
                     prof_experiments_sums(all, target->number - 1, speedup + 1,
                                           point->number - 1),
                     gain) != 0)
        return PROF_ESTATE;
    if (target->end != 0)
        prof_gain_widen(gain, target->visits);
    return 0;
}

static int series_of(const struct prof_target *target, uint32_t speedup,
                     uint32_t *number)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    *number = speedup == PROF_NORMAL_SPEED ? 0 : speedup + 1;
    if (prof_causal.memory == NULL || target->number == 0 ||
        target->number > all->settings.targets ||
        *number >= all->settings.speedups)
        return PROF_EVALUE;
    return 0;
}

int prof_causal_none(const struct prof_progress *point, struct prof_gain *gain)
{
    const struct prof_experiments *all = &prof_causal.experiments;
    struct prof_progress_sum halves[2][PROF_GAIN_GROUPS] = {{{0}}};

    *gain = (struct prof_gain){0};
    if (prof_causal.memory == NULL || point->number == 0 ||
        point->number > all->settings.points)
        return PROF_EVALUE;
    for (uint32_t target = 0; target < all->settings.targets; target++) {
        const struct prof_progress_sum *groups =
            prof_experiments_sums(all, target, 0, point->number - 1);

        for (uint32_t i = 0; i < PROF_GAIN_GROUPS; i++)
            prof_gain_sum(&halves[i % 2][i / 2], &groups[i]);
    }
    return prof_gain_of(halves[0], halves[1], gain);
}

static uint32_t ppm_of(uint64_t part, uint64_t all)
{
    while (all > UINT32_MAX) {
        part >>= 1;
        all >>= 1;
    }
    return all == 0 ? 0 : (uint32_t)prof_divide(part * MILLION, (uint32_t)all);
}

int prof_causal_shares(const struct prof_target *target, uint32_t speedup,
                       struct prof_shares *shares)
{
    const struct prof_target_share *share;
    const struct prof_limit_sum *sum;
    uint64_t all = 0;
    uint32_t number;

    *shares = (struct prof_shares){0};
    if (series_of(target, speedup, &number) != 0)
        return PROF_EVALUE;
    share = &prof_causal.experiments.shares[target->number - 1];
    if (share->cycles == 0)
        return PROF_ESTATE;
    shares->target_ppm = ppm_of(share->inside, share->cycles);
    sum = prof_causal_limit_sum(target->number - 1, number);
    for (unsigned i = 0; i < PROF_LIMITS; i++)
        all += sum->cycles[i];
    for (unsigned i = 0; i < PROF_LIMITS; i++)
        shares->limit_ppm[i] = ppm_of(sum->cycles[i], all);
    return 0;
}

int prof_causal_quantiles(const struct prof_target *target, uint32_t speedup,
                          const struct prof_latency *latency,
                          struct prof_quantiles *quantiles)
{
    struct prof_latency_interval of_p50, of_p99;
    const struct prof_latency_sum *sum;
    uint32_t number;

    *quantiles = (struct prof_quantiles){0};
    if (series_of(target, speedup, &number) != 0 || latency->number == 0 ||
        latency->number > prof_causal.kinds)
        return PROF_EVALUE;
    sum = prof_causal_latency_sum(target->number - 1, number,
                                  latency->number - 1);
    if (sum->count == 0)
        return PROF_ESTATE;
    of_p50 = prof_latency_interval(sum, 500);
    of_p99 = prof_latency_interval(sum, 990);
    *quantiles = (struct prof_quantiles){
        .requests = sum->count,
        .mean = prof_divide(sum->cycles, sum->count),
        .p50 = prof_latency_quantile(sum, 500),
        .p99 = prof_latency_quantile(sum, 990),
        .p50_low = of_p50.low,
        .p50_high = of_p50.high,
        .p99_low = of_p99.low,
        .p99_high = of_p99.high,
    };
    return 0;
}

void prof_causal_stats(struct prof_causal_stats *stats)
{
    *stats = (struct prof_causal_stats){
        .experiments = prof_causal.experiments.done,
        .abandoned = prof_causal.experiments.abandoned,
        .delay_cycles = prof_causal.clock.delay - prof_causal.own,
        .held = prof_causal.held.held,
        .held_most = prof_causal.held.used,
        .held_refused = prof_causal.refused,
        .answers = prof_causal.answers,
        .checked = prof_causal.checked,
        .contradictions = prof_causal.contradictions,
        .drained = prof_causal.drained,
        .stolen_cycles = prof_causal.stolen,
    };
}
