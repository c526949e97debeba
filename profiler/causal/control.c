/* SPDX-License-Identifier: Apache-2.0 */

/* Starting and stopping experiments. */

#include "causal/causal.h"
#include "causal/causal_send.h"
#include "causal/own.h"
#include "causal/patch.h"
#include "causal/shares.h"

#include "base/alloc.h"
#include "base/cpu.h"

#include <prof/error.h>
#include <prof/port.h>

#define PER_CENT (PROF_ONE / 100u)
#define CYCLES_MIN_PART 100u /* of a second */
#define CYCLES_MAX_SECONDS 5u
#define VISITS_MIN 50u
#define HELD 4096u
#define HELD_MAX (1u << 20)

static struct prof_causal_settings
with_defaults(const struct prof_causal_settings *given)
{
    static const uint32_t usual[] = {25, 50, 95};
    struct prof_causal_settings all = *given;

    if (all.speedups == 0) {
        all.speedups = sizeof usual / sizeof usual[0];
        for (uint32_t i = 0; i < all.speedups; i++)
            all.speedup[i] = usual[i] * PER_CENT;
    }
    if (all.cycles_min == 0)
        all.cycles_min = prof_divide(all.tsc_hz, CYCLES_MIN_PART);
    if (all.cycles_max == 0)
        all.cycles_max = all.tsc_hz * CYCLES_MAX_SECONDS;
    if (all.visits_min == 0)
        all.visits_min = VISITS_MIN;
    if (all.held == 0)
        all.held = HELD;
    return all;
}

static bool valid(const struct prof_causal_settings *settings)
{
    if (settings->tsc_hz == 0 ||
        settings->speedups > PROF_CAUSAL_SPEEDUPS_MAX ||
        settings->held > HELD_MAX || prof_causal_targets() == NULL ||
        prof_causal_points() == NULL)
        return false;
    for (uint32_t i = 0; i < settings->speedups; i++)
        if (settings->speedup[i] == 0 ||
            settings->speedup[i] > PROF_SPEEDUP_MAX)
            return false;
    return true;
}

/* What is learnt from samples needs some. */
static bool known(uint32_t number)
{
    const struct prof_target *target = prof_causal_targets();

    while (target->number != number + 1)
        target = target->next;
    return target->end == 0 || prof_shares_samples() >= PROF_SHARES_SAMPLES_MIN;
}

/* Speed-up 0 of the experiments is none; the others follow. */
static struct prof_experiment_settings
experiments_of(const struct prof_causal_settings *settings)
{
    struct prof_experiment_settings of = {
        .targets = prof_causal_targets()->number,
        .points = prof_causal_points()->number,
        .speedups = settings->speedups + 1,
        .cycles_min = settings->cycles_min,
        .visits_min = settings->visits_min,
        .cycles_max = settings->cycles_max,
        .seed = settings->seed,
        .known = known,
        .ended = prof_causal_log,
    };

    for (uint32_t i = 0; i < settings->speedups; i++)
        of.speedup[i + 1] = settings->speedup[i];
    return of;
}

/* What is kept beside the sums of experiments, of each target and speed-up. */
static size_t series_bytes(const struct prof_experiment_settings *settings,
                           uint32_t kinds)
{
    return (size_t)settings->targets * settings->speedups *
               (kinds * sizeof(struct prof_latency_sum) +
                sizeof(struct prof_limit_sum)) +
           sizeof(struct prof_work);
}

static void series_init(const struct prof_experiment_settings *settings,
                        uint32_t kinds, void *memory)
{
    size_t series = (size_t)settings->targets * settings->speedups;

    prof_causal.kinds = kinds;
    prof_causal.latencies = memory;
    for (size_t i = 0; i < series * kinds; i++)
        prof_causal.latencies[i] = (struct prof_latency_sum){0};
    prof_causal.limits = (void *)(prof_causal.latencies + series * kinds);
    for (size_t i = 0; i < series; i++)
        prof_causal.limits[i] = (struct prof_limit_sum){0};
    prof_causal.work = (void *)(prof_causal.limits + series);
}

/* In (memory), in which there is nothing yet. */
static void begin_all(const struct prof_experiment_settings *of, void *memory,
                      uint64_t now)
{
    bool any = false;

    for (struct prof_target *each = prof_causal_targets(); each != NULL;
         each = each->next) {
        each->visits = 0;
        any = any || each->end != 0;
    }
    prof_causal.began = now;
    prof_causal.normal = UINT64_MAX;
    prof_causal_log_init(prof_causal.memory, of->points);
    if (any)
        prof_shares_init(prof_causal.of_shares, of->targets);
    prof_experiments_init(&prof_causal.experiments, of, &prof_causal.clock, now,
                          memory);
}

/* With interrupts off before anything looks at the samples: a drain in the tick
 * would take them away until experiments are on. */
static void begin(const struct prof_experiment_settings *of, void *memory)
{
    uint64_t now = prof_tsc();
    bool on;

    prof_causal_traffic_begin(prof_causal.tsc_hz, now);
    /* it may have been stopped in the middle of one */
    for (struct prof_target *each = prof_causal_targets(); each != NULL;
         each = each->next)
        each->inside = 0;
    on = prof_interrupts_save();
    begin_all(of, memory, now);
    prof_causal_follow(now);
    prof_patch_on();
    prof_causal_on = 1;
    prof_own_measure();
    prof_interrupts_restore(on);
}

static void begin_again(uint64_t now)
{
    const struct prof_experiment_settings of = prof_causal.experiments.settings;

    series_init(&of, prof_causal.kinds, prof_causal.latencies);
    begin_all(&of, prof_causal.experiments.sums, now);
}

void prof_causal_learn(uint64_t now)
{
    if (prof_patch_learn_if(now - prof_causal.began))
        begin_again(now);
}

void prof_causal_again(void)
{
    bool on = prof_interrupts_save();
    uint64_t now = prof_causal_exactly();

    if (prof_causal_on && !prof_causal.experiments.fixed) {
        begin_again(now);
        prof_causal_follow(now);
    }
    prof_interrupts_restore(on);
}

int prof_causal_start(const struct prof_causal_settings *given)
{
    const struct prof_latency *last = prof_causal_latencies();
    uint32_t kinds = last == NULL ? 0 : last->number;
    struct prof_experiment_settings of;
    struct prof_causal_settings all;
    size_t noted, events, series, learnt;
    char *memory;

    if (prof_causal_on || prof_causal.held.count != 0)
        return PROF_ESTATE;
    if (!valid(given))
        return PROF_EVALUE;
    all = with_defaults(given);
    of = experiments_of(&all);
    events = PROF_HELD_BYTES(all.held);
    noted = prof_causal_log_bytes(of.points);
    series = series_bytes(&of, kinds);
    learnt = prof_patch == NULL ? 0 : prof_shares_bytes(of.targets);
    memory = prof_alloc(noted + learnt + events + series +
                        prof_experiments_bytes(&of));
    if (memory == NULL)
        return PROF_EMEMORY;
    prof_free(prof_causal.memory);
    prof_causal.memory = memory;
    prof_causal.tsc_hz = all.tsc_hz;
    memory += noted;
    prof_causal.of_shares = memory;
    memory += learnt;
    prof_held_init(&prof_causal.held, memory, all.held);
    series_init(&of, kinds, memory + events);
    begin(&of, memory + events + series);
    return 0;
}

void prof_causal_stop(void)
{
    uint64_t now;
    bool on;

    if (!prof_causal_on)
        return;
    on = prof_interrupts_save();
    now = prof_causal_exactly();
    prof_causal_forgive(now);
    prof_causal_outside = false;
    prof_virtual_left(&prof_causal.clock, now);
    prof_virtual_speed_up(&prof_causal.clock, now, 0);
    prof_causal_lag = prof_causal.clock.delay;
    prof_causal_on = 0;
    prof_causal_spins = 0;
    prof_shares_on = 0;
    prof_causal.by_shares = NULL;
    prof_interrupts_restore(on);
    prof_causal.strange += prof_patch_off();
    prof_causal_log_stop();
    prof_causal_release();
}
