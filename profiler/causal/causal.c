/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is called from outside: one virtual clock, one heap of held events and
 * one series of experiments.
 */

#include "causal/causal.h"
#include "causal/fast_path.h"
#include "causal/own.h"
#include "causal/pace.h"
#include "causal/patch.h"
#include "causal/send.h"
#include "causal/shares.h"

#include "base/alloc.h"
#include "base/equal.h"
#include "sample/cpus.h"

#include <prof/error.h>
#include <prof/port.h>

#define PER_CENT (PROF_ONE / 100u)
#define CYCLES_MIN_PART 100u /* of a second */
#define CYCLES_MAX_SECONDS 5u
#define VISITS_MIN 50u
#define NARROW_PERCENT 3u
#define HELD 4096u
#define HELD_MAX (1u << 20)

struct prof_causal prof_causal;
uint32_t prof_causal_state;
uint64_t prof_causal_lag;
bool prof_causal_outside;
bool prof_causal_handlers;
uint32_t prof_causal_spins;

/* ---- time */

uint64_t prof_causal_experiment_time(void)
{
    return prof_causal_both().virtual_time;
}

uint64_t prof_causal_real(uint64_t due)
{
    return prof_virtual_to_real(&prof_causal.clock, due);
}

void prof_causal_except(uint64_t cycles)
{
    if (!prof_causal_outside)
        prof_virtual_except(&prof_causal.clock, cycles);
}

void prof_causal_leave_out_begin(void)
{
    bool on = prof_interrupts_save();

    if (prof_causal_on() && prof_causal.clock.nested != 0) {
        (void)prof_causal_exactly();
        prof_causal.work->out_sampled = prof_causal.sampled;
        prof_causal.work->is_out = true;
    }
    prof_interrupts_restore(on);
}

/* What of these (cycles) is not excluded yet: what the sampler took is, where
 * that was looked at, and elsewhere it need not be any more. */
static uint64_t rest_of(uint64_t cycles)
{
    if (!prof_causal.work->is_out)
        return cycles;
    cycles -= prof_causal.sampled - prof_causal.work->out_sampled;
    prof_causal.sampled = prof_causal_sampled();
    return cycles;
}

void prof_causal_leave_out(uint64_t cycles)
{
    bool on = prof_interrupts_save();

    if (prof_causal_on()) {
        if (prof_causal.clock.nested != 0)
            prof_causal_except(rest_of(cycles));
        prof_causal.work->is_out = false;
        prof_own_skip(cycles);
        prof_causal.left_out += cycles;
    } else {
        prof_pace_leave_out(cycles);
    }
    prof_interrupts_restore(on);
}

/* What is the profiler's own was left out already. */
uint64_t prof_causal_aside(void)
{
    return prof_tsc() - prof_causal_own();
}

void prof_causal_aside_end(uint64_t began)
{
    bool on = prof_interrupts_save();
    uint64_t cycles = prof_causal_aside() - began;

    if (prof_causal_on()) {
        if (prof_causal.clock.nested != 0)
            prof_causal_except(cycles);
        prof_own_skip(cycles);
    }
    prof_interrupts_restore(on);
}

void prof_causal_except_samples(void)
{
    uint32_t cycles;

    if (prof_causal.clock.nested == 0)
        return;
    cycles = prof_causal_sampled();
    prof_causal_except(cycles - prof_causal.sampled);
    prof_causal.sampled = cycles;
}

uint64_t prof_causal_exactly(void)
{
    prof_causal_except_samples();
    return prof_tsc();
}

struct prof_moment prof_causal_now_in_target(void)
{
    struct prof_own_guard guard = prof_own_open();
    uint64_t now = prof_causal_exactly();
    struct prof_moment both = {now, prof_virtual_time(&prof_causal.clock, now)};

    if (prof_causal_outside)
        both.virtual_time = prof_causal_not_before(both.virtual_time, now);
    prof_own_close(&guard);
    return both;
}

struct prof_moment prof_causal_now(void)
{
    return prof_causal_both();
}

/* ---- progress and targets */

void prof_causal_add_progress(struct prof_progress *point)
{
    if (point->number != 0 || prof_causal_on())
        return;
    point->next = prof_causal.points;
    point->number = point->next == NULL ? 1 : point->next->number + 1;
    prof_causal.points = point;
}

void prof_causal_add_target(struct prof_target *target)
{
    if (target->number != 0 || prof_causal_on())
        return;
    target->next = prof_causal.targets;
    target->number = target->next == NULL ? 1 : target->next->number + 1;
    prof_causal.targets = target;
}

const struct prof_progress *prof_causal_first_point(void)
{
    const struct prof_progress *each = prof_causal.points;

    while (each->next != NULL)
        each = each->next;
    return each;
}

const struct prof_target *prof_causal_target(const char *name)
{
    const struct prof_target *each = prof_causal.targets;

    while (each != NULL && !prof_equal(each->name, name))
        each = each->next;
    return each;
}

void prof_causal_add_latency(struct prof_latency *latency)
{
    if (latency->number != 0 || prof_causal_on())
        return;
    latency->next = prof_causal.latency_kinds;
    latency->number = latency->next == NULL ? 1 : latency->next->number + 1;
    prof_causal.latency_kinds = latency;
}

static struct prof_target *target_at(uint32_t number)
{
    struct prof_target *target = prof_causal.targets;

    while (target->number != number + 1)
        target = target->next;
    return target;
}

/* Enters the target again that it is inside of. In one that is learnt from
 * samples any code may be, but for code that waits. */
static void enter_again(uint64_t now)
{
    struct prof_target *target = target_at(prof_causal.experiments.target);
    const bool by_shares = target->by_samples;

    prof_virtual_left(&prof_causal.clock, now);
    prof_causal.sampled = prof_causal_sampled();
    prof_causal_outside = target->outside;
    prof_causal.by_shares = by_shares ? target : NULL;
    if ((target->inside == 0 && !by_shares) ||
        (prof_causal_spins != 0 && !target->outside))
        return;
    prof_virtual_enter(&prof_causal.clock, now);
    if (by_shares)
        prof_virtual_share(&prof_causal.clock, now, prof_shares_of(target));
}

static void look_at_checks(void)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    prof_causal.checks =
        prof_causal.clock.speedup == 0 && (all->counts || all->fixed);
}

void prof_causal_follow(uint64_t now)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    prof_causal.latency = prof_causal_latency_sums(all->target, all->speedup);
    prof_causal.limit = prof_causal_limit_sum(all->target, all->speedup);
    if (prof_causal.clock.speedup != 0) {
        prof_causal.normal = UINT64_MAX;
    } else if (prof_causal.normal > now) {
        prof_causal.normal = now;
        prof_causal.normal_own = prof_causal_own();
    }
    look_at_checks();
    prof_causal_forgive(now);
    prof_causal_follow_handlers();
    prof_patch_follow(now);
    enter_again(now);
}

void prof_causal_visit_last(uint64_t now)
{
    bool on = prof_interrupts_save();

    if (now == 0)
        now = prof_tsc();
    prof_causal_except_samples();
    prof_causal_worked(prof_virtual_time(&prof_causal.clock, now));
    if (prof_experiments_visited(&prof_causal.experiments, now)) {
        prof_causal_learn(now);
        prof_causal_follow(now);
        prof_causal_drain(now);
    }
    look_at_checks();
    prof_interrupts_restore(on);
}

__attribute__((noinline)) static void
visit_in_target(const struct prof_progress *point)
{
    bool on = prof_interrupts_save();
    struct prof_own_call began = prof_own_begin();

    if (prof_experiments_count(&prof_causal.experiments, point->number - 1))
        prof_causal_visit_last(began.began);
    prof_own_end(began, prof_own.visit);
    prof_interrupts_restore(on);
}

void prof_causal_visit_otherwise(struct prof_progress *point)
{
    if (point->number == 0)
        return;
    if (prof_causal_on())
        visit_in_target(point);
    else
        prof_pace_visit(point);
}

void prof_causal_spin(void)
{
    bool on;

    if (prof_shares_on)
        prof_shares_pause();
    prof_causal_spins = prof_causal_on();
    if (prof_causal.clock.nested == 0 || prof_causal_outside)
        return;
    on = prof_interrupts_save();
    prof_virtual_left(&prof_causal.clock, prof_causal_exactly());
    prof_interrupts_restore(on);
}

void prof_causal_found(void)
{
    bool on = prof_interrupts_save();

    prof_causal_spins = 0;
    if (prof_shares_on)
        prof_shares_go_on();
    if (!prof_causal_outside)
        enter_again(prof_causal_exactly());
    prof_interrupts_restore(on);
}

int prof_causal_fix(const struct prof_target *target, uint32_t speedup)
{
    uint64_t now;
    bool on;

    if (!prof_causal_on())
        return PROF_ESTATE;
    if (target->number == 0 || speedup > PROF_SPEEDUP_MAX)
        return PROF_EVALUE;
    on = prof_interrupts_save();
    now = prof_causal_exactly();
    prof_experiments_fix(&prof_causal.experiments, target->number - 1, speedup,
                         now);
    prof_causal_follow(now);
    prof_interrupts_restore(on);
    return 0;
}

/* ---- start and stop */

static bool is_valid(const struct prof_causal_settings *settings)
{
    if (settings->tsc_hz == 0 ||
        settings->speedups > PROF_CAUSAL_SPEEDUPS_MAX ||
        settings->held > HELD_MAX || prof_causal.targets == NULL ||
        prof_causal.points == NULL)
        return false;
    for (uint32_t i = 0; i < settings->speedups; i++)
        if (settings->speedup[i] == 0 ||
            settings->speedup[i] > PROF_SPEEDUP_MAX)
            return false;
    return true;
}

/* What is learnt from samples needs some. */
static bool is_known(uint32_t number)
{
    const struct prof_target *target = target_at(number);

    return target->by_samples ? prof_shares_samples() >= PROF_SHARES_SAMPLES_MIN
                              : !target->on_trial;
}

/* Speed-up 0 of the experiments is none; the others follow. */
static void experiments_of(const struct prof_causal_settings *given,
                           struct prof_experiment_settings *of)
{
    static const uint32_t usual[] = {25 * PER_CENT, 50 * PER_CENT,
                                     95 * PER_CENT};
    const uint32_t *speedups = given->speedups == 0 ? usual : given->speedup;
    const uint32_t count = given->speedups == 0 ? 3 : given->speedups;

    *of = (struct prof_experiment_settings){
        .targets = prof_causal.targets->number,
        .points = prof_causal.points->number,
        .speedups = count + 1,
        .cycles_min = given->cycles_min,
        .visits_min = given->visits_min != 0 ? given->visits_min : VISITS_MIN,
        .cycles_max = given->cycles_max,
        .seed = given->seed,
        .rotates = given->rotates,
        .weighs = given->weighs,
        .first = given->first,
        .narrow = given->narrow != 0 ? given->narrow : NARROW_PERCENT,
        .known = is_known,
        .ended = prof_causal_log,
    };
    if (of->cycles_min == 0)
        of->cycles_min = prof_divide(given->tsc_hz, CYCLES_MIN_PART);
    if (of->cycles_max == 0)
        of->cycles_max = given->tsc_hz * CYCLES_MAX_SECONDS;
    for (uint32_t i = 0; i < count; i++)
        of->speedup[i + 1] = speedups[i];
}

/* Where the parts of (prof_causal.memory) begin; the log is the first. */
struct parts {
    size_t shares, held, latencies, limits, work, experiments, end;
};

/* Whether a target is learnt from samples, or may be later. */
static bool may_be_learnt(void)
{
    const struct prof_target *each = prof_causal.targets;

    while (each != NULL && !each->by_samples)
        each = each->next;
    return each != NULL || prof_patch != NULL;
}

static void lay_out(struct parts *parts,
                    const struct prof_experiment_settings *of, uint32_t kinds,
                    uint32_t held)
{
    const size_t series = (size_t)of->targets * of->speedups;

    parts->shares = prof_causal_log_bytes(of->points);
    parts->held =
        parts->shares + (may_be_learnt() ? prof_shares_bytes(of->targets) : 0);
    parts->latencies = parts->held + PROF_HELD_BYTES(held);
    parts->limits =
        parts->latencies + series * kinds * sizeof(struct prof_latency_sum);
    parts->work = parts->limits + series * sizeof(struct prof_limit_sum);
    parts->experiments = parts->work + sizeof(struct prof_work);
    parts->end = parts->experiments + prof_experiments_bytes(of);
}

/* In (memory), in which there is nothing yet. */
static void begin_experiments(const struct prof_experiment_settings *of,
                              void *memory, uint64_t now)
{
    /* targets may turn out to be of that kind later */
    bool any = of->rotates && prof_patch != NULL && prof_cpu_here()->enabled;

    for (struct prof_target *each = prof_causal.targets; each != NULL;
         each = each->next) {
        each->visits = 0;
        any = any || each->by_samples;
    }
    prof_patch_begin(of->rotates);
    prof_causal.began = now;
    prof_causal.normal = UINT64_MAX;
    prof_causal_log_init(prof_causal.memory, of->points);
    if (any)
        prof_shares_init(prof_causal.of_shares, of->targets);
    prof_clear_words(
        prof_causal.latencies,
        (size_t)((char *)prof_causal.work - (char *)prof_causal.latencies) /
            sizeof(void *));
    prof_experiments_init(&prof_causal.experiments, of, &prof_causal.clock, now,
                          memory);
}

/* With interrupts off before anything looks at the samples: a drain in the tick
 * would take them away until experiments are on. */
static void start_all(const struct prof_experiment_settings *of, void *memory)
{
    uint64_t now = prof_tsc();
    bool on;

    prof_causal_traffic_begin(prof_causal.tsc_hz, now);
    /* it may have been stopped in the middle of one */
    for (struct prof_target *each = prof_causal.targets; each != NULL;
         each = each->next)
        each->inside = 0;
    on = prof_interrupts_save();
    prof_causal.started = now;
    begin_experiments(of, memory, now);
    prof_causal_follow(now);
    prof_patch_on();
    prof_causal_state = PROF_CAUSAL_EXPERIMENTS;
    prof_patch_follow(now);
    prof_own_measure();
    prof_interrupts_restore(on);
}

static void begin_again(uint64_t now)
{
    begin_experiments(&prof_causal.experiments.settings,
                      prof_causal.experiments.sums, now);
}

/* Whether (target) does not run, by what is known after (cycles) of
 * experiments. */
static bool does_not_run(const struct prof_target *target, uint64_t cycles)
{
    if (target->visits != 0 || target->on_trial)
        return false;
    return target->by_samples ? prof_shares_samples() >= PROF_SHARES_SAMPLES_MIN
                              : cycles >= prof_causal_uncalled_cycles();
}

void prof_causal_learn(uint64_t now)
{
    const bool rotates = prof_causal.experiments.settings.rotates;
    const uint64_t cycles = now - prof_causal.began;

    if (rotates) {
        prof_patch_try(now);
    } else if (prof_patch_learn_if(cycles)) {
        begin_again(now);
        return;
    }
    for (const struct prof_target *each = prof_causal.targets;
         each != NULL && rotates; each = each->next)
        prof_experiments_rest(&prof_causal.experiments, each->number - 1,
                              does_not_run(each, cycles));
}

void prof_causal_again(void)
{
    bool on = prof_interrupts_save();
    uint64_t now = prof_causal_exactly();

    if (prof_causal_on() && !prof_causal.experiments.fixed) {
        begin_again(now);
        prof_causal_follow(now);
    }
    prof_interrupts_restore(on);
}

int prof_causal_start(const struct prof_causal_settings *given)
{
    const struct prof_latency *last = prof_causal.latency_kinds;
    const uint32_t kinds = last == NULL ? 0 : last->number;
    const uint32_t held = given->held != 0 ? given->held : HELD;
    struct prof_experiment_settings of;
    struct parts parts;
    char *memory;

    if (prof_cpu_count() > 1)
        return PROF_ECAUSAL_CPUS;
    if (prof_causal_on() || prof_causal.held.count != 0)
        return PROF_ESTATE;
    prof_pace_end();
    if (!is_valid(given))
        return PROF_EVALUE;
    experiments_of(given, &of);
    lay_out(&parts, &of, kinds, held);
    memory = prof_alloc(parts.end);
    if (memory == NULL || !prof_waited_begin()) {
        prof_free(memory);
        return PROF_EMEMORY;
    }
    prof_free(prof_causal.memory);
    prof_causal.memory = memory;
    prof_causal.of_shares = memory + parts.shares;
    prof_causal.kinds = kinds;
    prof_causal.latencies = (void *)(memory + parts.latencies);
    prof_causal.limits = (void *)(memory + parts.limits);
    prof_causal.work = (void *)(memory + parts.work);
    prof_causal.tsc_hz = given->tsc_hz;
    prof_held_init(&prof_causal.held, memory + parts.held, held);
    start_all(&of, memory + parts.experiments);
    return 0;
}

void prof_causal_stop(void)
{
    uint64_t now;
    bool on;

    prof_pace_end();
    if (!prof_causal_on())
        return;
    on = prof_interrupts_save();
    now = prof_causal_exactly();
    prof_causal_forgive(now);
    prof_causal_outside = prof_causal_handlers = false;
    prof_virtual_left(&prof_causal.clock, now);
    prof_virtual_speed_up(&prof_causal.clock, now, 0);
    prof_causal_lag = prof_causal.clock.delay;
    prof_causal_state = PROF_CAUSAL_NOTHING;
    prof_causal_spins = 0;
    prof_shares_on = 0;
    prof_causal.by_shares = NULL;
    prof_interrupts_restore(on);
    prof_causal.strange += prof_patch_off();
    prof_causal_send_again();
    prof_causal_release();
}
