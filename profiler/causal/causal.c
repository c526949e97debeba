/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is called from outside: one virtual clock, one heap of held events and
 * one series of experiments.
 */

#include "causal/causal.h"
#include "causal/patch.h"

#include "base/cpu.h"
#include "base/equal.h"
#include "sample/cpu_state.h"

#include <prof/error.h>

struct prof_causal prof_causal;
uint32_t prof_causal_on;
uint64_t prof_causal_lag;
uint32_t prof_causal_spins;

static struct prof_progress *points;
static struct prof_target *targets;

struct prof_target *prof_causal_targets(void)
{
    return targets;
}

const struct prof_progress *prof_causal_points(void)
{
    return points;
}

/* ---- time */

/* The sampler's interrupts are counted by its stubs, the others are passed
 * to prof_causal_except(). */
static uint64_t sampler_cycles(void)
{
    const volatile struct prof_cpu *cpu = &prof_cpus[0];

    return cpu->interrupt_cycles - cpu->observed_cycles;
}

static uint64_t sampled; /* of these, up to when the clock was last read */

uint64_t prof_causal_exactly(void)
{
    uint64_t cycles = sampler_cycles();

    prof_virtual_except(&prof_causal.clock, cycles - sampled);
    sampled = cycles;
    return prof_tsc();
}

/* An interrupt changes (excepted). That matters in the target only, which is
 * why the time outside of it costs no more than a load. */
uint64_t prof_causal_experiment_time(void)
{
    uint64_t time;
    bool on;

    if (prof_causal.clock.nested == 0)
        return prof_tsc() - prof_causal.clock.delay;
    on = prof_interrupts_save();
    time = prof_virtual_time(&prof_causal.clock, prof_causal_exactly());
    prof_interrupts_restore(on);
    return time;
}

uint64_t prof_causal_real(uint64_t due)
{
    return prof_virtual_to_real(&prof_causal.clock, due);
}

struct prof_moment prof_causal_now(void)
{
    bool on = prof_interrupts_save();
    uint64_t now = prof_causal_exactly();
    struct prof_moment both = {now, prof_virtual_time(&prof_causal.clock, now)};

    prof_interrupts_restore(on);
    return both;
}

void prof_causal_except(uint64_t cycles)
{
    prof_virtual_except(&prof_causal.clock, cycles);
}

/* ---- progress and targets */

void prof_causal_add_progress(struct prof_progress *point)
{
    if (point->number != 0 || prof_causal_on)
        return;
    point->number = points == NULL ? 1 : points->number + 1;
    point->next = points;
    points = point;
}

void prof_causal_add_target(struct prof_target *target)
{
    if (target->number != 0 || prof_causal_on)
        return;
    target->number = targets == NULL ? 1 : targets->number + 1;
    target->next = targets;
    targets = target;
}

const struct prof_target *prof_causal_target(const char *name)
{
    const struct prof_target *each = targets;

    while (each != NULL && !prof_equal(each->name, name))
        each = each->next;
    return each;
}

static bool chosen(const struct prof_target *target)
{
    return target->number == prof_causal.experiments.target + 1;
}

/* Another experiment has begun at (now), perhaps inside of its target. */
static void follow(uint64_t now)
{
    prof_virtual_left(&prof_causal.clock, now);
    if (prof_causal_spins != 0)
        return;
    for (struct prof_target *each = targets; each != NULL; each = each->next)
        if (chosen(each) && each->inside != 0)
            prof_virtual_enter(&prof_causal.clock, now);
}

void prof_causal_visit(struct prof_progress *point)
{
    bool on = prof_interrupts_save();
    uint64_t now = prof_causal_exactly();

    if (point->number != 0 && prof_experiments_visit(&prof_causal.experiments,
                                                     point->number - 1, now))
        follow(now);
    prof_interrupts_restore(on);
}

void prof_causal_enter(struct prof_target *target)
{
    bool on;

    target->visits++;
    if (target->inside++ != 0 || !chosen(target) || prof_causal_spins != 0)
        return;
    on = prof_interrupts_save();
    sampled = sampler_cycles();
    prof_virtual_enter(&prof_causal.clock, prof_tsc());
    prof_interrupts_restore(on);
}

void prof_causal_leave(struct prof_target *target)
{
    bool on = prof_interrupts_save();

    prof_causal_leave_at(target, prof_causal_exactly());
    prof_interrupts_restore(on);
}

void prof_causal_leave_at(struct prof_target *target, uint64_t now)
{
    if (target->inside != 0 && --target->inside == 0 && chosen(target))
        prof_virtual_leave(&prof_causal.clock, now);
}

void prof_causal_entered_now(const struct prof_target *target)
{
    if (!chosen(target) || prof_causal.clock.nested != 1)
        return;
    sampled = sampler_cycles();
    prof_virtual_since(&prof_causal.clock, prof_tsc());
}

void prof_causal_spin(void)
{
    prof_causal_spins = prof_causal_on;
}

void prof_causal_found(void)
{
    bool on = prof_interrupts_save();

    prof_causal_spins = 0;
    follow(prof_causal_exactly());
    prof_interrupts_restore(on);
}

/* ---- held events */

void prof_causal_release(void)
{
    prof_causal.releases = prof_causal.held.count != 0;
    prof_causal.epoch++;
}

bool prof_causal_hold(uint64_t due, void *event)
{
    if (!prof_causal_on)
        return false;
    if (prof_held_put(&prof_causal.held, due, event))
        return true;
    prof_causal.refused++;
    prof_experiments_abandon(&prof_causal.experiments, prof_tsc());
    follow(prof_tsc());
    prof_causal_release();
    return false;
}

bool prof_causal_next(uint64_t *due)
{
    if (prof_causal.held.count == 0) /* by far the most often */
        return false;
    (void)prof_held_first(&prof_causal.held, due);
    if (prof_causal.releases)
        *due = 0;
    return true;
}

void *prof_causal_take(void)
{
    void *event = prof_held_take(&prof_causal.held, UINT64_MAX);

    if (prof_causal.held.count == 0)
        prof_causal.releases = false;
    return event;
}

bool prof_causal_withdraw(const void *event)
{
    bool was_held = prof_held_withdraw(&prof_causal.held, event);

    if (prof_causal.held.count == 0)
        prof_causal.releases = false;
    return was_held;
}

void prof_causal_turn(void)
{
    uint64_t now = prof_tsc();

    prof_patch_turn();
    if (prof_causal_on && prof_experiments_check(&prof_causal.experiments, now))
        follow(now);
}

int prof_causal_fix(const struct prof_target *target, uint32_t speedup)
{
    uint64_t now = prof_tsc();

    if (!prof_causal_on)
        return PROF_ESTATE;
    if (target->number == 0 || speedup > PROF_SPEEDUP_MAX)
        return PROF_EVALUE;
    prof_experiments_fix(&prof_causal.experiments, target->number - 1, speedup,
                         now);
    follow(now);
    return 0;
}
