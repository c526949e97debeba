/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What happens for each run and each pause. How many instructions these take is
 * a row of `make bench`; whatever is rare is in functions of its own.
 */

#include "loop/held.h"
#include "loop/loop.h"
#include "loop/utilisation.h"

#define RARE __attribute__((noinline, cold))
#define IS_RARE(condition) __builtin_expect(condition, 0)

#ifdef PROF_HOSTED
uint64_t prof_loop_hosted_tsc;
#endif

uint32_t prof_loop_on;
struct prof_loop_state prof_loop_state;
static struct prof_loop_state *const state = &prof_loop_state;

static inline void enter(struct prof_loop_frame *frame, uint64_t now)
{
    struct prof_loop_frame *outer = state->top;

    outer->start -= now;
    frame->outer = outer;
    frame->start = now;
    __atomic_store_n(&state->top, frame, __ATOMIC_RELEASE); /* guard.c */
}

/* Ends (frame), which is at the top. Returns its own time. */
static inline uint64_t leave(struct prof_loop_frame *frame, uint64_t now)
{
    struct prof_loop_frame *outer = frame->outer;
    uint64_t own = now - frame->start;

    outer->start += now;
    __atomic_store_n(&state->top, outer, __ATOMIC_RELEASE);
    frame->node->own_cycles += own;
    return own;
}

/* A run as long as (own) is longer than the site's longest, or held the loop,
 * or is beyond 32 bits. (task) is NULL for a callback. */
RARE static void count_notable(struct prof_loop_frame *frame, uint64_t own,
                               uint32_t object)
{
    struct prof_loop_site *site = frame->site;
    uint64_t end = prof_loop_tsc(), begin = end - own;

    if (own > site->longest_cycles) {
        site->longest_cycles = own;
        site->longest_tsc = begin;
        site->longest_object = object;
    }
    if (own >= prof_held_least && site->kind != PROF_LOOP_IDLE &&
        site->kind != PROF_LOOP_LOOP)
        prof_held_add(site, begin, end, own, object);
    site->notable = prof_held_notable(site->longest_cycles);
    prof_histograms_add(&site->histograms, PROF_LOOP_RUN, own);
}

static inline void count_run(struct prof_loop_frame *frame, uint64_t own,
                             uint32_t object)
{
    if (IS_RARE(own >> 32 != 0 || (uint32_t)own > frame->site->notable))
        count_notable(frame, own, object);
    else
        prof_histograms_put(&frame->site->histograms, PROF_LOOP_RUN,
                            (uint32_t)own);
}

/* Frames within (frame) that nobody has left, because an exception or a longjmp
 * has. False: it does not run. */
RARE static bool leave_inner(struct prof_loop_frame *frame)
{
    const struct prof_loop_frame *at = state->top;
    uint32_t depth = 0;

    while (at != frame && at != NULL && depth++ < PROF_LOOP_DEPTH_MAX)
        at = at->outer;
    if (at != frame)
        return false;
    while (state->top != frame) {
        struct prof_loop_frame *inner = state->top;

        count_run(inner, leave(inner, prof_loop_clock()), 0);
    }
    return true;
}

/* ---- tasks */

/* It has waited for long, or was never woken. */
RARE static void count_delay(struct prof_loop_task *task, uint64_t delay)
{
    if (task->ready == PROF_LOOP_NOT_READY)
        return;
    task->frame.site->delay_cycles += delay;
    prof_histograms_add(&task->frame.site->histograms, PROF_LOOP_DELAY, delay);
}

/* (task) runs from (now) on. */
static inline void count_wait(struct prof_loop_task *task, uint64_t now)
{
    struct prof_loop_site *site = task->frame.site;
    uint64_t delay;

    delay = now + prof_loop_away() - task->ready;
    if (IS_RARE(delay >> 32 != 0 || task->ready == PROF_LOOP_NOT_READY)) {
        count_delay(task, delay);
    } else {
        site->delay_cycles += (uint32_t)delay;
        prof_histograms_put(&site->histograms, PROF_LOOP_DELAY,
                            (uint32_t)delay);
    }
}

PROF_LOOP_CALL void prof_loop_put_run(struct prof_loop_task *task)
{
    uint64_t now = prof_loop_clock();

    enter(&task->frame, now);
    count_wait(task, now);
}

PROF_LOOP_CALL void prof_loop_put_pause(struct prof_loop_task *task)
{
    if (IS_RARE(state->top != &task->frame) && !leave_inner(&task->frame))
        return;
    task->ready = PROF_LOOP_NOT_READY;
    count_run(&task->frame, leave(&task->frame, prof_loop_clock()),
              task->object);
}

PROF_LOOP_CALL void prof_loop_put_wake(struct prof_loop_task *task)
{
    if (task->ready == PROF_LOOP_NOT_READY)
        task->ready = prof_loop_tsc();
}

/* ---- callbacks */

PROF_LOOP_CALL void prof_loop_put_begin(struct prof_loop_frame *frame,
                                        struct prof_trace_name *name)
{
    frame->site = prof_loop_site_of(name, PROF_LOOP_CALLBACKS);
    frame->node = frame->site->top;
    enter(frame, prof_loop_clock());
}

void prof_loop_put_begin_for(struct prof_loop_frame *frame,
                             struct prof_loop_task *task)
{
    uint64_t now = prof_loop_clock();

    frame->site = task->frame.site;
    frame->node = task->frame.node;
    enter(frame, now);
    count_wait(task, now);
    task->ready = PROF_LOOP_NOT_READY;
}

PROF_LOOP_CALL void prof_loop_put_leave(struct prof_loop_frame *frame)
{
    if (IS_RARE(state->top != frame) && !leave_inner(frame))
        return;
    count_run(frame, leave(frame, prof_loop_clock()), 0);
}

void prof_loop_put_nest(struct prof_loop_frame *frame)
{
    frame->site = &prof_loop_sites.sites[PROF_SITE_LOOP];
    frame->node = frame->site->top;
    enter(frame, prof_loop_clock());
}

void prof_loop_put_profiler(struct prof_loop_frame *frame)
{
    frame->site = &prof_loop_sites.sites[PROF_SITE_PROFILER];
    frame->node = frame->site->top;
    enter(frame, prof_loop_clock());
}

void prof_loop_put_idle(struct prof_loop_frame *frame)
{
    frame->site = &prof_loop_sites.sites[PROF_SITE_IDLE];
    frame->node = frame->site->top;
    enter(frame, prof_loop_clock());
    prof_utilisation_idle(prof_loop_tsc());
}

void prof_loop_put_idle_end(struct prof_loop_frame *frame)
{
    prof_loop_put_leave(frame);
    prof_utilisation_busy(prof_loop_tsc());
}
