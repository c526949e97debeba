/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that are held until they are due.
 *
 * Clients of an open loop do not wait for answers, so the more virtual time
 * lags, the more of their traffic is held. Before there is no room left, all of
 * it is let through between two experiments, and the next one begins when the
 * program has caught up.
 */

#include "causal/causal.h"
#include "causal/own.h"
#include "causal/patch.h"

#include "base/cpu.h"

/* While draining, the program works on what has come during the lag. With a
 * load of r that takes r / (1 - r) times as long: up to 94 %. */
#define DRAIN_LAGS 16u

/* A turn of the loop that finds nothing to do takes microseconds. If it took
 * more than 1/10,000 s, the time went elsewhere. */
#define STOLEN_PART 10000u

uint64_t prof_causal_next_due = UINT64_MAX;

/* To be called when an event is no longer held, or when all are due. */
static void look_for_next(void)
{
    const struct prof_held *held = &prof_causal.held;

    if (held->count == 0) {
        prof_causal.releases = false;
        prof_causal_next_due = UINT64_MAX;
    } else {
        prof_causal_next_due =
            prof_causal.releases ? 0 : prof_held_first(held)->due;
    }
}

void prof_causal_release(void)
{
    prof_causal.releases = true;
    look_for_next();
    prof_causal.epoch++;
    prof_causal.open = false;
}

static void let_through(uint64_t now)
{
    uint64_t lag = prof_causal.clock.delay - prof_causal.work->drain_lag;

    prof_causal_release();
    prof_causal.work->drain_end = now + lag * DRAIN_LAGS;
    prof_causal.work->drain_lag = prof_causal.clock.delay;
    prof_experiments_pause(&prof_causal.experiments, now);
    prof_causal_follow(now);
}

void prof_causal_drain(uint64_t now)
{
    if (!prof_causal.open || prof_causal.held.count < prof_causal.held.room / 2)
        return;
    prof_causal.drained++;
    let_through(now);
}

/* Experiments go on when what was let through is done: the loop has turned
 * without work. */
static void check_drained(uint64_t now)
{
    if (!prof_causal.experiments.paused || prof_causal.releases ||
        (prof_causal.work->turns < 2 && now < prof_causal.work->drain_end))
        return;
    prof_experiments_resume(&prof_causal.experiments, now);
    prof_causal_follow(now);
}

void prof_causal_refuse(void)
{
    uint64_t now;
    bool on;

    if (!prof_causal_on)
        return;
    prof_causal.refused++;
    on = prof_interrupts_save();
    now = prof_causal_exactly();
    prof_experiments_abandon(&prof_causal.experiments, now);
    let_through(now);
    prof_interrupts_restore(on);
}

bool prof_causal_hold(uint64_t due, void *event)
{
    struct prof_own_guard guard;
    bool is_held;

    if (!prof_causal_on)
        return false;
    guard = prof_own_open();
    is_held = prof_held_put(&prof_causal.held, due, event);
    if (!is_held)
        prof_causal_refuse();
    else if (due < prof_causal_next_due)
        prof_causal_next_due = due;
    prof_own_close(guard);
    return is_held;
}

__attribute__((noinline)) static void *take_any(void)
{
    const struct prof_held_event *taken;

    if (prof_causal.held.count == 0)
        return NULL;
    taken = prof_held_take(&prof_causal.held);
    prof_causal.work->taken = taken->origin;
    prof_causal.due = taken->due;
    look_for_next();
    return taken->event;
}

/* The fast path, for when all events are in the list. */
static inline void *take(void)
{
    struct prof_held *held = &prof_causal.held;
    const struct prof_held_event *taken = held->first;

    if (held->heap_count != 0 || taken == NULL || prof_causal.releases)
        return take_any();
    prof_held_take_first(held);
    prof_causal.work->taken = taken->origin;
    prof_causal.due = taken->due;
    prof_causal_next_due = held->first != NULL ? held->first->due : UINT64_MAX;
    return taken->event;
}

void *prof_causal_take(void)
{
    struct prof_own_guard guard = prof_own_open();
    void *event = take();

    prof_own_close(guard);
    return event;
}

bool prof_causal_withdraw(const void *event)
{
    bool was_held = prof_held_withdraw(&prof_causal.held, event);

    look_for_next();
    return was_held;
}

/* Finds turns that took too long. Only turns without work are looked at: a
 * handler may take as long as it likes. */
static void watch(struct prof_moment now)
{
    uint64_t cycles = now.real - prof_causal.work->turned.real;

    prof_causal_worked(now.virtual_time);
    if (prof_causal.work->turns > 1 && cycles > prof_causal.work->turn_max)
        prof_causal.stolen += cycles;
    prof_causal.work->turned = now;
    prof_causal.work->turned_own = prof_causal.own;
    prof_causal.work->turns++;
}

/* One may end that has no visits, or the next begin. */
__attribute__((noinline)) static void look_after_experiments(void)
{
    bool on = prof_interrupts_save();
    uint64_t now = prof_causal_exactly();

    check_drained(now);
    if (prof_experiments_check(&prof_causal.experiments, now,
                               prof_virtual_time(&prof_causal.clock, now)))
        prof_causal_follow(now);
    prof_interrupts_restore(on);
}

void prof_causal_turn(void)
{
    struct prof_own_call call;
    struct prof_moment now;
    bool after_work, on;

    if (!prof_causal_on)
        return;
    on = prof_interrupts_save();
    call = prof_own_begin();
    now = prof_causal_now();
    after_work = prof_causal.work->turns == 0;
    watch(now);
    prof_patch_turn();
    if (prof_causal.experiments.paused ||
        prof_experiments_overdue(&prof_causal.experiments, now.virtual_time))
        look_after_experiments();
    if (after_work) /* else it waits, and delays nobody */
        prof_own_end(call, prof_own.call);
    prof_interrupts_restore(on);
}

void prof_causal_traffic_begin(uint64_t tsc_hz, uint64_t now)
{
    *prof_causal.work = (struct prof_work){0};
    prof_causal.work->ended = prof_virtual_time(&prof_causal.clock, now);
    prof_causal.work->turn_max = prof_divide(tsc_hz, STOLEN_PART);
    prof_causal.work->turned =
        (struct prof_moment){now, prof_causal.work->ended};
    prof_causal.work->drain_lag = prof_causal.clock.delay;
    prof_causal_assumptions_begin();
    prof_causal.answers = prof_causal.checked = prof_causal.contradictions = 0;
    prof_causal.drained = prof_causal.stolen = prof_causal.refused = 0;
    prof_causal.open = prof_causal_outside = false;
}
