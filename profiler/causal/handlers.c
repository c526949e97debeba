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
#include "causal/shares.h"

#include "base/cpu.h"

/* Turns of the loop from one handler to the next: one more, and there was
 * nothing to do in between. */
#define TURNS_BUSY 1u

/* (then) is a virtual time, which has passed. */
static void account(enum prof_limit limit, uint64_t then, uint64_t now)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    if (all->counts && now > then)
        prof_causal_limit_sum(all->target, all->speedup)->cycles[limit] +=
            now - then;
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
    struct prof_moment now;

    if (prof_shares_on)
        prof_causal_part(kind);
    if (work->kind != NULL) { /* the loop's, which has its own name for it */
        work->kind = kind;
        return;
    }
    /* the turn until here was work for this event */
    now = work->turns == 0 ? prof_causal_now() : prof_causal.work->turned;
    account(work->turns > TURNS_BUSY ? work->taken : PROF_LIMIT_CPU,
            work->ended, now.virtual_time);
    work->kind = kind;
    work->real = now.real;
    work->began = now.virtual_time;
    work->turns = 0;
    work->taken = PROF_LIMIT_TIME;
}

void prof_causal_handled(void)
{
    struct prof_work *work = prof_causal.work;

    if (work->kind == NULL)
        return;
    if (prof_shares_on)
        prof_causal_part(NULL);
    work->ended = prof_causal_time();
    work->polled = prof_tsc();
    work->answers = prof_causal.answers;
    work->kind = NULL;
    account(PROF_LIMIT_CPU, work->began, work->ended);
}

bool prof_causal_owes(void)
{
    struct prof_work *work = prof_causal.work;
    uint64_t now;

    if (!prof_causal_on || !prof_causal.outside)
        return false;
    now = prof_tsc();
    /* to take what has arrived is work, too */
    if (work->answers != prof_causal.answers)
        work->ended += now - work->polled;
    work->answers = prof_causal.answers;
    work->polled = now;
    return prof_virtual_time(&prof_causal.clock, now) < work->ended;
}

void prof_causal_forgive(uint64_t now)
{
    struct prof_work *work = prof_causal.work;
    uint64_t time = prof_virtual_time(&prof_causal.clock, now);

    if (prof_causal.outside)
        prof_causal.clock.delay -= prof_causal_not_before(time, now) - time;
    work->began = prof_virtual_time(&prof_causal.clock, now);
    work->real = now;
}

uint64_t prof_causal_not_before(uint64_t time, uint64_t now)
{
    const struct prof_work *work = prof_causal.work;
    uint64_t least = work->ended;

    if (work->kind != NULL)
        least = work->began + (now - work->real);
    return time > least ? time : least;
}
