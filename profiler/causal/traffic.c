/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that are held until they are due; how long the loop waits for them and
 * for whom, and what its handlers owe while a device or a peer is faster.
 *
 * Clients of an open loop do not wait for answers: the more virtual time lags,
 * the more of their traffic is held. Before there is no room left, all of it is
 * let through between two experiments, and the next one begins when the program
 * has caught up.
 *
 * While the target is an agent, the delay grows while it has a request. The CPU
 * is not to become faster: so a handler takes as long by virtual time, and
 * after it the loop waits until the clock has come so far. The agent does then
 * what it would have done during the handler if it were faster.
 */

#include "causal/causal.h"
#include "causal/fast_path.h"
#include "causal/own.h"
#include "causal/patch.h"
#include "causal/shares.h"

#include "base/cpu.h"

/* What has come during the lag takes r / (1 - r) times as long to work on, with
 * a load of r: up to 94 %. */
#define DRAIN_LAGS 16u

/* A turn without work takes microseconds. If it took more than 1/10,000 s, the
 * time went elsewhere. */
#define STOLEN_PART 10000u

/* Turns from one handler to the next while there is work. */
#define TURNS_BUSY 1u

uint64_t prof_causal_next_due = UINT64_MAX;

/* ---- held events */

void prof_causal_look_at_list(void)
{
    prof_causal.listed = !prof_causal.releases &&
                         prof_causal.held.heap_count == 0 &&
                         prof_causal.held.first != NULL;
}

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
    prof_causal_look_at_list();
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
    prof_causal.sums.drained++;
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

    if (!prof_causal_on())
        return;
    if (!prof_causal.experiments.paused) /* else there is none to end */
        prof_causal.sums.held_refused++;
    on = prof_interrupts_save();
    now = prof_causal_exactly();
    prof_experiments_abandon(&prof_causal.experiments, now);
    let_through(now);
    prof_interrupts_restore(on);
}

void *prof_causal_take_any(void)
{
    struct prof_own_brief brief = prof_own_brief_open();
    const struct prof_held_event *taken = NULL;

    if (prof_causal.held.count != 0) {
        taken = prof_held_take(&prof_causal.held);
        prof_causal.taken = taken->origin;
        prof_causal.due = taken->due;
        look_for_next();
    }
    prof_own_brief_close(brief);
    return taken == NULL ? NULL : taken->event;
}

bool prof_causal_withdraw(const void *event)
{
    bool was_held = prof_held_withdraw(&prof_causal.held, event);

    look_for_next();
    return was_held;
}

/* ---- handlers */

/* Accounts the virtual time until (now) that was not accounted for yet. */
static inline void account_time(struct prof_work *work, enum prof_limit limit,
                                uint64_t now)
{
    if (prof_causal.experiments.counts && now > work->ended)
        prof_causal.limit->cycles[limit] += now - work->ended;
    work->ended = now;
}

/* What runs is of (kind) from now on. */
static inline void go_on_as(struct prof_work *work, const void *kind)
{
    work->kind = kind;
    if (prof_shares_on)
        (void)prof_causal_part(kind);
}

/* A handler begins after waiting, or while an agent is faster. It began with
 * this turn of the loop, which was work for its event. */
__attribute__((noinline)) static void begin_handler(struct prof_work *work,
                                                    const void *kind)
{
    struct prof_own_guard guard = prof_own_open();
    struct prof_moment now = work->turned;
    uint64_t own = work->turned_own;

    if (prof_causal_outside) {
        if (work->turns == 0) {
            now = prof_causal_now();
            own = prof_causal_own();
        }
        work->real = now.real - own;
        work->began = now.virtual_time;
    }
    if (work->turns > TURNS_BUSY)
        prof_causal_account_wait(work, now.virtual_time);
    work->turns = 0;
    prof_causal.taken = PROF_LIMIT_TIME;
    go_on_as(work, kind);
    prof_own_close(&guard);
}

/* What was known by another kind is a segment of its own (shares.h). */
const void *prof_causal_part(const void *kind)
{
    static const void *present;
    const void *before = present;

    present = kind;
    if (prof_shares_on)
        prof_shares_switch(kind);
    return before;
}

static inline void begin_at_once(struct prof_work *work, const void *kind)
{
    prof_causal_handlers = true; /* it has an end */
    work->kind = kind;
    work->turns = 0;
    prof_causal.taken = PROF_LIMIT_TIME;
    work->waited = 0;
}

/* Any handler. */
__attribute__((noinline)) static void handler(const void *kind)
{
    struct prof_work *work = prof_causal.work;

    if (work->kind == NULL) {
        if (work->turns > TURNS_BUSY || prof_causal_outside) {
            begin_handler(work, kind);
            return;
        }
        begin_at_once(work, kind);
    }
    go_on_as(work, kind);
}

/* Without waiting, the time before it counts as the handler's. Where there is
 * one already, the loop only gives it another kind, which is for shares. */
void prof_causal_handler(const void *kind)
{
    struct prof_work *work = prof_causal.work;

    if (prof_shares_on || prof_causal_outside ||
        (work->kind == NULL && work->turns > TURNS_BUSY))
        handler(kind);
    else if (work->kind == NULL)
        begin_at_once(work, kind);
}

void prof_causal_worked(uint64_t time)
{
    struct prof_work *work = prof_causal.work;

    if (work->turns == 0 && !prof_causal_outside)
        account_time(work, PROF_LIMIT_CPU, time);
}

/* (now) less the profiler's own time, which an interrupt may add to. */
static uint64_t without_own(uint64_t now)
{
    bool on = prof_interrupts_save();

    now -= prof_causal_own();
    prof_interrupts_restore(on);
    return now;
}

/* A handler ends while an agent is faster. */
__attribute__((noinline)) static void end_before_owing(struct prof_work *work)
{
    struct prof_own_guard guard = prof_own_open();

    account_time(work, PROF_LIMIT_CPU, prof_causal_both().virtual_time);
    work->kind = NULL;
    work->polls = false;
    work->answers = prof_causal.sums.answers;
    prof_own_close(&guard);
    work->polled = without_own(prof_tsc());
}

/* Any handler. */
__attribute__((noinline)) static void handled(void)
{
    struct prof_work *work = prof_causal.work;

    if (work->kind == NULL)
        return;
    if (prof_shares_on)
        prof_causal_part(NULL);
    if (prof_causal_outside)
        end_before_owing(work);
    else
        work->kind = NULL;
}

/* After the first handler of a turn the others change nothing, until the next
 * turn: no time was waited for them. */
void prof_causal_handled(void)
{
    if (prof_shares_on || prof_causal_outside) {
        handled();
    } else {
        prof_causal.work->kind = NULL;
        prof_causal_handlers = prof_causal.work->waited != 0;
    }
}

/* Of a handler that had begun before experiments wanted to know of it. */
static const char unknown_kind;

void prof_causal_follow_handlers(void)
{
    if (!prof_causal_handlers)
        prof_causal.work->kind = &unknown_kind;
    prof_causal.work->waited = 0;
    prof_causal_handlers = true;
}

static void skip_wait(uint64_t cycles)
{
    bool on = prof_interrupts_save();

    prof_own_skip(cycles);
    prof_interrupts_restore(on);
}

bool prof_causal_owes_now(void)
{
    struct prof_work *work = prof_causal.work;
    uint64_t now = prof_tsc(), spent = without_own(now), time;
    uint64_t took = spent - work->polled;
    const bool has_waited = work->polls;

    /* taking what has arrived is work, too, but looking for it is not */
    if (work->answers != prof_causal.sums.answers)
        work->ended += took > work->poll ? took - work->poll : 0;
    else if (has_waited)
        work->poll = took;
    work->answers = prof_causal.sums.answers;
    work->polled = spent;
    time = prof_virtual_time(&prof_causal.clock, now);
    work->polls = time < work->ended;
    if (work->polls)
        return true;
    /* it polls in steps, but what it has waited for too long is nothing of the
       program's; without waiting, the time since the handler is */
    if (has_waited)
        skip_wait(time - work->ended);
    return false;
}

void prof_causal_forgive(uint64_t now)
{
    struct prof_work *work = prof_causal.work;
    uint64_t time = prof_virtual_time(&prof_causal.clock, now);

    if (prof_causal_outside) {
        uint64_t forgiven = prof_causal_not_before(time, now) - time;

        prof_causal.clock.delay -= forgiven;
    }
    work->began = work->ended = prof_virtual_time(&prof_causal.clock, now);
    work->real = now - prof_causal_own();
}

uint64_t prof_causal_not_before(uint64_t time, uint64_t now)
{
    const struct prof_work *work = prof_causal.work;
    uint64_t least = work->ended;

    if (work->kind != NULL)
        least = work->began + (now - prof_causal_own() - work->real);
    return time > least ? time : least;
}

/* ---- turns of the loop */

/* Finds turns that took too long, of those without work. */
static void watch(struct prof_moment now)
{
    uint64_t cycles = now.real - prof_causal.work->turned.real;

    prof_causal_worked(now.virtual_time);
    if (prof_causal.work->turns > 1 && cycles > prof_causal.work->turn_max)
        prof_causal.sums.stolen_cycles += cycles;
    prof_causal.taken = PROF_LIMIT_TIME;
    prof_causal.work->turned = now;
    prof_causal.work->turned_own = prof_causal_own();
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
    struct prof_own_brief brief;
    struct prof_moment now;
    bool after_work;

    if (!prof_causal_on())
        return;
    brief = prof_own_brief_open();
    prof_virtual_add_apart(&prof_causal.clock);
    now = prof_causal_now();
    after_work = prof_causal.work->turns == 0;
    if (prof_causal.work->kind == &unknown_kind)
        handled(); /* it was none */
    prof_causal_handlers = true;
    watch(now);
    if (prof_patch != NULL && prof_patch->visits_count != 0)
        prof_patch_turn();
    if (prof_causal.experiments.paused ||
        prof_experiments_overdue(&prof_causal.experiments, now.virtual_time))
        look_after_experiments();
    if (after_work) /* else it waits, and delays nobody */
        prof_own_brief_close_on(brief);
    else
        prof_interrupts_restore(brief.on);
}

void prof_causal_traffic_begin(uint64_t tsc_hz, uint64_t now)
{
    *prof_causal.work = (struct prof_work){0};
    prof_causal.work->ended = prof_virtual_time(&prof_causal.clock, now);
    prof_causal.work->turn_max = prof_divide(tsc_hz, STOLEN_PART);
    prof_causal.work->turned =
        (struct prof_moment){now, prof_causal.work->ended};
    prof_causal.work->drain_lag = prof_causal.clock.delay;
    for (struct prof_assumption *each = prof_causal.assumptions; each != NULL;
         each = each->next)
        each->checked = each->contradictions = 0;
    prof_causal.sums = (struct prof_causal_stats){0};
    prof_causal.open = prof_causal_outside = false;
}
