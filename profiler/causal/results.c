/* SPDX-License-Identifier: Apache-2.0 */

/* What experiments have said: latencies, gains and shares. */

#include "causal/causal.h"
#include "causal/fast_path.h"
#include "causal/own.h"

#include <prof/error.h>
#include <prof/gain.h>

#define MILLION 1000000u
#define PERMILLE 1000u
#define LAST (PROF_LATENCY_BUCKETS - 1)

/* ---- latencies */

void prof_latency_add(struct prof_latency_sum *sum, uint64_t cycles)
{
    uint32_t at = prof_log_linear_bucket(cycles);

    sum->buckets[at < LAST ? at : LAST]++;
    sum->cycles += cycles;
    sum->count++;
}

void prof_latency_add_if(struct prof_latency_sum *sum, uint64_t cycles)
{
    if ((int64_t)cycles >= 0)
        prof_latency_add(sum, cycles);
}

/* (wanted) thousandths of a value are below that. */
static uint64_t value_at(const struct prof_latency_sum *sum, uint64_t wanted)
{
    struct prof_log_linear_quantile found = {.wanted = wanted};
    uint32_t at = 0;

    if (sum->count == 0)
        return 0;
    while (sum->buckets[at] == 0 ||
           !prof_log_linear_find(&found, sum->buckets[at]))
        at++;
    /* thousandths of the bucket, in 1/1024 */
    return prof_log_linear_low(at) +
           (prof_divide(
                prof_divide((wanted - found.below) << 10, sum->buckets[at])
                    << prof_log_linear_octave(at),
                PERMILLE) >>
            10);
}

/* How many values are below the quantile is a binomial. */
void prof_latency_interval(const struct prof_latency_sum *sum,
                           uint32_t permille, uint64_t *found)
{
    uint64_t all = (uint64_t)sum->count * PERMILLE;
    uint64_t middle = (uint64_t)sum->count * permille;
    uint64_t variance = middle * (PERMILLE - permille);
    uint64_t reach = prof_divide((uint64_t)prof_gain_root(variance) * 196, 100);

    found[0] = value_at(sum, reach < middle ? middle - reach : 0);
    found[1] = value_at(sum, middle);
    found[2] = value_at(sum, reach < all - middle ? middle + reach : all);
}

/* ---- sums */

static uint32_t series_of(uint32_t target, uint32_t speedup)
{
    return target * prof_causal.experiments.settings.speedups + speedup;
}

struct prof_latency_sum *prof_causal_latency_sums(uint32_t target,
                                                  uint32_t speedup)
{
    return &prof_causal
                .latencies[series_of(target, speedup) * prof_causal.kinds];
}

struct prof_limit_sum *prof_causal_limit_sum(uint32_t target, uint32_t speedup)
{
    return &prof_causal.limits[series_of(target, speedup)];
}

void prof_causal_done_in_target(struct prof_latency *latency, uint64_t began)
{
    struct prof_own_guard guard = prof_own_open();
    uint64_t time = prof_causal_now_in_target().virtual_time;

    prof_latency_add_if(&prof_causal.latency[latency->number - 1],
                        time - began);
    prof_own_close(&guard);
}

uint64_t prof_causal_due(void)
{
    return prof_causal_on() ? prof_causal.due : prof_causal_time();
}

/* Whether there are sums of (target) and of (speedup), which 0 is none. */
static bool has_sums(const struct prof_target *target, uint32_t speedup)
{
    const struct prof_experiment_settings *settings =
        &prof_causal.experiments.settings;

    return prof_causal.memory != NULL && target->number != 0 &&
           target->number <= settings->targets && speedup < settings->speedups;
}

static bool has_point(const struct prof_progress *point)
{
    return prof_causal.memory != NULL && point->number != 0 &&
           point->number <= prof_causal.experiments.settings.points;
}

int prof_causal_gain(const struct prof_target *target, uint32_t speedup,
                     const struct prof_progress *point, struct prof_gain *gain)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    if (!has_sums(target, speedup + 1) || !has_point(point))
        return PROF_EVALUE;
    if (prof_gain_of(prof_experiments_sums(all, target->number - 1, 0,
                                           point->number - 1),
                     prof_experiments_sums(all, target->number - 1, speedup + 1,
                                           point->number - 1),
                     gain) != 0)
        return PROF_ESTATE;
    if (target->by_samples)
        prof_gain_widen(gain, target->visits);
    return 0;
}

int prof_causal_none(const struct prof_progress *point, struct prof_gain *gain)
{
    const struct prof_experiments *all = &prof_causal.experiments;
    struct prof_progress_sum halves[2][PROF_GAIN_GROUPS] = {{{0}}};

    *gain = (struct prof_gain){0};
    if (!has_point(point))
        return PROF_EVALUE;
    for (uint32_t target = 0; target < all->settings.targets; target++) {
        const struct prof_progress_sum *groups =
            prof_experiments_sums(all, target, 0, point->number - 1);

        for (uint32_t i = 0; i < PROF_GAIN_GROUPS; i++)
            prof_gain_sum(&halves[i % 2][i / 2], &groups[i]);
    }
    return prof_gain_of(halves[0], halves[1], gain);
}

uint32_t prof_causal_ppm(uint64_t part, uint64_t all)
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
    const uint32_t number = speedup + 1; /* PROF_NORMAL_SPEED: 0 */
    const struct prof_target_share *share;
    const struct prof_limit_sum *sum;
    uint64_t all = 0;

    *shares = (struct prof_shares){0};
    if (!has_sums(target, number))
        return PROF_EVALUE;
    share = &prof_causal.experiments.shares[target->number - 1];
    if (share->cycles == 0)
        return PROF_ESTATE;
    shares->target_ppm = prof_causal_ppm(share->inside, share->cycles);
    sum = prof_causal_limit_sum(target->number - 1, number);
    for (unsigned i = 0; i < PROF_LIMITS; i++)
        all += sum->cycles[i];
    for (unsigned i = 0; i < PROF_LIMITS; i++)
        shares->limit_ppm[i] = prof_causal_ppm(sum->cycles[i], all);
    return 0;
}

void prof_causal_quantiles_of(const struct prof_latency_sum *sum,
                              struct prof_quantiles *quantiles)
{
    quantiles->requests = sum->count;
    quantiles->mean =
        sum->count != 0 ? prof_divide(sum->cycles, sum->count) : 0;
    prof_latency_interval(sum, 500, &quantiles->p50_low);
    prof_latency_interval(sum, 990, &quantiles->p99_low);
}

int prof_causal_quantiles(const struct prof_target *target, uint32_t speedup,
                          const struct prof_latency *latency,
                          struct prof_quantiles *quantiles)
{
    *quantiles = (struct prof_quantiles){0};
    if (!has_sums(target, speedup + 1) || latency->number == 0 ||
        latency->number > prof_causal.kinds)
        return PROF_EVALUE;
    prof_causal_quantiles_of(
        prof_causal_latency_sums(target->number - 1, speedup + 1) +
            latency->number - 1,
        quantiles);
    return quantiles->requests != 0 ? 0 : PROF_ESTATE;
}

void prof_causal_stats(struct prof_causal_stats *stats)
{
    *stats = prof_causal.sums;
    stats->experiments = prof_causal.experiments.done;
    stats->abandoned = prof_causal.experiments.abandoned;
    stats->delay_cycles = prof_causal_saved();
    stats->held = prof_causal.held.held;
    stats->held_most = prof_causal.held.used;
}
