/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loop does between two events: how long it waits and for whom, and
 * what its handlers owe while a device or a peer is faster.
 *
 * While the target is an agent, the delay grows while it has a request. What
 * the CPU does meanwhile is not to become faster, so the virtual time of a
 * handler passes as real time does, and after it the loop waits until the clock
 * has come so far: the agent does in that time what it would have done during
 * the handler if it were faster.
 */

#include "causal/causal.h"
#include "causal/own.h"
#include "causal/shares.h"

#include "base/cpu.h"

/* Turns of the loop from one handler to the next while there is work. With more
 * of them there was nothing to do in between. */
#define TURNS_BUSY 1u

/* Accounts the virtual time until (now) that was not accounted for yet. */
static inline void account(struct prof_work *work, enum prof_limit limit,
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
__attribute__((noinline)) static void begin(struct prof_work *work,
                                            const void *kind)
{
    struct prof_own_guard guard = prof_own_open();
    struct prof_moment now = work->turned;
    uint64_t own = work->turned_own;

    if (prof_causal_outside) {
        if (work->turns == 0) {
            now = prof_causal_now();
            own = prof_causal.own;
        }
        work->real = now.real - own;
        work->began = now.virtual_time;
    }
    if (work->turns > TURNS_BUSY)
        account(work, work->taken, now.virtual_time);
    work->turns = 0;
    work->taken = PROF_LIMIT_TIME;
    go_on_as(work, kind);
    prof_own_close(guard);
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

void prof_causal_handler(const void *kind)
{
    struct prof_work *work = prof_causal.work;

    if (work->kind == NULL) { /* else the loop only gives it another kind */
        /* without waiting, the time before it counts as the handler's */
        if (work->turns > TURNS_BUSY || prof_causal_outside) {
            begin(work, kind);
            return;
        }
        work->turns = 0;
        work->taken = PROF_LIMIT_TIME;
    }
    go_on_as(work, kind);
}

void prof_causal_worked(uint64_t time)
{
    struct prof_work *work = prof_causal.work;

    if (work->turns == 0 && !prof_causal_outside)
        account(work, PROF_LIMIT_CPU, time);
}

/* (now) less the profiler's own time, which an interrupt may add to. */
static uint64_t without_own(uint64_t now)
{
    bool on = prof_interrupts_save();

    now -= prof_causal.own;
    prof_interrupts_restore(on);
    return now;
}

/* A handler ends while an agent is faster. */
__attribute__((noinline)) static void end_before_owing(struct prof_work *work)
{
    struct prof_own_guard guard = prof_own_open();

    account(work, PROF_LIMIT_CPU, prof_causal_both().virtual_time);
    work->kind = NULL;
    work->answers = prof_causal.answers;
    prof_own_close(guard);
    work->polled = without_own(prof_tsc());
}

void prof_causal_handled(void)
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

bool prof_causal_owes_now(void)
{
    struct prof_work *work = prof_causal.work;
    uint64_t now = prof_tsc(), spent = without_own(now);

    /* taking what has arrived is work, too */
    if (work->answers != prof_causal.answers)
        work->ended += spent - work->polled;
    work->answers = prof_causal.answers;
    work->polled = spent;
    return prof_virtual_time(&prof_causal.clock, now) < work->ended;
}

void prof_causal_forgive(uint64_t now)
{
    struct prof_work *work = prof_causal.work;
    uint64_t time = prof_virtual_time(&prof_causal.clock, now);

    if (prof_causal_outside)
        prof_causal.clock.delay -= prof_causal_not_before(time, now) - time;
    work->began = work->ended = prof_virtual_time(&prof_causal.clock, now);
    work->real = now - prof_causal.own;
}

uint64_t prof_causal_not_before(uint64_t time, uint64_t now)
{
    const struct prof_work *work = prof_causal.work;
    uint64_t least = work->ended;

    if (work->kind != NULL)
        least = work->began + (now - prof_causal.own - work->real);
    return time > least ? time : least;
}
