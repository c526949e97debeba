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

/* On i386 compilers do these in four instructions, with two more registers. */
static inline void add(uint64_t *sum, uint64_t value)
{
#ifdef __i386__
    prof_loop_half *half = (prof_loop_half *)sum;

    __asm__("addl %%eax, %0\n\tadcl %%edx, %1"
            : "+m"(half[0]), "+m"(half[1])
            : "A"(value)
            : "cc");
#else
    *sum += value;
#endif
}

static inline void subtract(uint64_t *sum, uint64_t value)
{
#ifdef __i386__
    prof_loop_half *half = (prof_loop_half *)sum;

    __asm__("subl %%eax, %0\n\tsbbl %%edx, %1"
            : "+m"(half[0]), "+m"(half[1])
            : "A"(value)
            : "cc");
#else
    *sum -= value;
#endif
}

static inline void enter(struct prof_loop_frame *frame, uint64_t now)
{
    struct prof_loop_frame *outer = state->top;

    subtract(&outer->start, now);
    frame->outer = outer;
    frame->start = now;
    __atomic_store_n(&state->top, frame, __ATOMIC_RELEASE); /* guard.c */
}

/* Ends (frame), which is at the top. Returns its own time. */
static inline uint64_t leave(struct prof_loop_frame *frame, uint64_t now)
{
    struct prof_loop_frame *outer = frame->outer;

    add(&outer->start, now);
    __atomic_store_n(&state->top, outer, __ATOMIC_RELEASE);
    now -= frame->start;
    add(&frame->node->own_cycles, now);
    return now;
}

/*
 * What is rare is called last, with what fits in registers; so the rest needs
 * few of them. Time that a run has had is left in its frame's start.
 */

/* A run is longer than the site's longest, or held the loop, or is beyond 32
 * bits. */
RARE PROF_LOOP_CALL static void count_notable(struct prof_loop_frame *frame)
{
    struct prof_loop_site *site = frame->site;
    uint64_t own = frame->start, end = prof_loop_tsc(), begin = end - own;

    if (own > site->longest_cycles) {
        site->longest_cycles = own;
        site->longest_tsc = begin;
        site->longest_object = frame->object;
    }
    if (own >= prof_held_least && site->kind != PROF_LOOP_IDLE &&
        site->kind != PROF_LOOP_LOOP)
        prof_held_add(site, begin, end, own, frame->object);
    site->notable = prof_held_notable(site->longest_cycles);
    prof_histograms_add(&site->histograms, PROF_LOOP_RUN, own);
}

RARE PROF_LOOP_CALL static void carry_run(struct prof_loop_site *site,
                                          uint32_t own)
{
    prof_histograms_carry(&site->histograms, PROF_LOOP_RUN, own);
}

RARE PROF_LOOP_CALL static void carry_delay(struct prof_loop_site *site,
                                            uint32_t delay)
{
    prof_histograms_carry(&site->histograms, PROF_LOOP_DELAY, delay);
}

/* Whether (value) has more than 32 bits. */
static inline bool is_wide(uint64_t value)
{
#ifdef __i386__
    bool wide;

    __asm__("testl %%edx, %%edx" : "=@ccnz"(wide) : "A"(value));
    return wide;
#else
    return value >> 32 != 0;
#endif
}

static inline bool is_notable(uint64_t own, const struct prof_loop_site *site)
{
#ifdef __i386__
    return is_wide(own) || (uint32_t)own > site->notable;
#else
    return own > site->notable;
#endif
}

/* (frame) is at the top, and is left now. */
static inline void leave_top(struct prof_loop_frame *frame)
{
    uint64_t own = leave(frame, prof_loop_clock());
    struct prof_loop_site *site = frame->site;

    if (IS_RARE(is_notable(own, site))) {
        frame->start = own;
        count_notable(frame);
    } else if (!prof_histograms_put(&site->histograms, PROF_LOOP_RUN,
                                    (uint32_t)own)) {
        carry_run(site, (uint32_t)own);
    }
}

/* The same after frames within it that nobody has left, because an exception or
 * a longjmp has. If it does not run at all, nothing is done. */
RARE PROF_LOOP_CALL static void leave_all(struct prof_loop_frame *frame)
{
    const struct prof_loop_frame *at = state->top;
    uint32_t depth = 0;

    while (at != frame && at != NULL && depth++ < PROF_LOOP_DEPTH_MAX)
        at = at->outer;
    if (at != frame)
        return;
    while (state->top != frame)
        leave_top(state->top);
    leave_top(frame);
}

/* ---- tasks */

/* It has waited for long, or was never woken. */
RARE PROF_LOOP_CALL static void count_delay(struct prof_loop_task *task)
{
    struct prof_loop_site *site = task->frame.site;
    uint64_t delay = task->frame.start - task->ready;

    if (!prof_loop_is_ready(task))
        return;
    site->delay_cycles += delay;
    prof_histograms_add(&site->histograms, PROF_LOOP_DELAY, delay);
}

PROF_LOOP_CALL void prof_loop_put_run(struct prof_loop_task *task)
{
    uint64_t now = prof_loop_clock(), delay;
    struct prof_loop_site *site;

    enter(&task->frame, now);
    delay = now - task->ready;
    if (IS_RARE(is_wide(delay))) {
        count_delay(task);
        return;
    }
    site = task->frame.site;
    add(&site->delay_cycles, delay);
    if (!prof_histograms_put(&site->histograms, PROF_LOOP_DELAY,
                             (uint32_t)delay))
        carry_delay(site, (uint32_t)delay);
}

PROF_LOOP_CALL void prof_loop_put_pause(struct prof_loop_task *task)
{
    prof_loop_set_not_ready(task);
    if (IS_RARE(state->top != &task->frame))
        leave_all(&task->frame);
    else
        leave_top(&task->frame);
}

/* In an interrupt the clock stands still. */
PROF_LOOP_CALL void prof_loop_put_wake(struct prof_loop_task *task)
{
    if (!prof_loop_is_ready(task))
        task->ready = state->depth == 0 ? prof_loop_clock()
                                        : state->enter_tsc - state->enter_away;
}

/* ---- callbacks */

PROF_LOOP_CALL void prof_loop_put_begin(struct prof_loop_frame *frame,
                                        struct prof_trace_name *name)
{
    frame->site = prof_loop_site_of(name, PROF_LOOP_CALLBACKS);
    frame->node = frame->site->top;
    frame->object = 0;
    enter(frame, prof_loop_clock());
}

void prof_loop_put_begin_for(struct prof_loop_frame *frame,
                             struct prof_loop_task *task)
{
    uint64_t now = prof_loop_clock();

    frame->site = task->frame.site;
    frame->node = task->frame.node;
    frame->object = task->frame.object;
    enter(frame, now);
    task->frame.start = now;
    count_delay(task);
    prof_loop_set_not_ready(task);
}

PROF_LOOP_CALL void prof_loop_put_leave(struct prof_loop_frame *frame)
{
    if (IS_RARE(state->top != frame))
        leave_all(frame);
    else
        leave_top(frame);
}

void prof_loop_put_nest(struct prof_loop_frame *frame)
{
    frame->site = &prof_loop_sites.sites[PROF_SITE_LOOP];
    frame->node = frame->site->top;
    frame->object = 0;
    enter(frame, prof_loop_clock());
}

void prof_loop_put_profiler(struct prof_loop_frame *frame)
{
    frame->site = &prof_loop_sites.sites[PROF_SITE_PROFILER];
    frame->node = frame->site->top;
    frame->object = 0;
    enter(frame, prof_loop_clock());
}

void prof_loop_put_idle(struct prof_loop_frame *frame)
{
    frame->site = &prof_loop_sites.sites[PROF_SITE_IDLE];
    frame->node = frame->site->top;
    frame->object = 0;
    enter(frame, prof_loop_clock());
    prof_utilisation_idle(prof_loop_tsc());
}

void prof_loop_put_idle_end(struct prof_loop_frame *frame)
{
    prof_loop_put_leave(frame);
    prof_utilisation_busy(prof_loop_tsc());
}
