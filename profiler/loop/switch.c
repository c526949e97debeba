/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What happens for each run and each pause. How many instructions these take is
 * a row of `make bench`; whatever is rare is in functions of its own.
 */

#include "loop/calls.h"
#include "loop/loop.h"

#define RARE __attribute__((noinline, cold))
#define IS_RARE(condition) __builtin_expect(condition, 0)
#ifdef __i386__
#define IN_REGISTERS __attribute__((regparm(3)))
#else
#define IN_REGISTERS
#endif

#ifdef PROF_HOSTED
uint64_t prof_loop_hosted_tsc;
#endif

uint32_t prof_loop_on;
struct prof_loop_cpu prof_loop_cpus[PROF_LOOP_STATES];

/* On i386 compilers do this in four instructions, with two more registers. */
static inline void add_cycles(uint64_t *sum, uint32_t value)
{
#ifdef __i386__
    prof_loop_half *half = (prof_loop_half *)sum;

    __asm__("addl %2, %0\n\tadcl $0, %1"
            : "+m"(half[0]), "+m"(half[1])
            : "r"(value)
            : "cc");
#else
    *sum += value;
#endif
}

/* And this in two, with one more. */
static inline uint32_t subtract(uint32_t minuend,
                                const prof_loop_half *subtrahend)
{
#ifdef __i386__
    __asm__("subl %1, %0" : "+r"(minuend) : "m"(*subtrahend) : "cc");
    return minuend;
#else
    return minuend - *subtrahend;
#endif
}

static inline void enter_frame(struct prof_loop_frame *frame, uint32_t now)
{
    struct prof_loop_frame *outer = prof_loop_cpu_here()->top;

    outer->start -= now;
    frame->outer = outer;
    frame->start = frame->begin = now;
    __atomic_store_n(&prof_loop_cpu_here()->top, frame,
                     __ATOMIC_RELEASE); /* guard.c */
}

/* Ends (frame), which is at the top. Returns its self time since the
 * last rebase. */
static inline uint32_t leave_frame(struct prof_loop_frame *frame, uint32_t now)
{
    struct prof_loop_frame *outer = frame->outer;

    outer->start += now;
    __atomic_store_n(&prof_loop_cpu_here()->top, outer, __ATOMIC_RELEASE);
    now = subtract(now, &frame->start);
    add_cycles(&frame->node->self_cycles, now);
    return now;
}

/*
 * What is rare is called last, with what fits in registers; so the rest needs
 * few of them.
 */

/* A run is longer than the site's longest, or held the loop, or began before
 * the last rebase. */
static uint64_t count_notable(struct prof_loop_frame *frame, uint32_t since)
{
    struct prof_long_run run = {.node = frame->node,
                                .site = frame->node->site,
                                .begin_tsc = prof_loop_begun(frame),
                                .end_tsc = prof_loop_tsc(),
                                .self_cycles = since,
                                .object = frame->object};

    if (frame->site != run.site) {
        run.self_cycles += frame->before;
        run.node->self_cycles += frame->before;
        frame->site = run.site;
    }
    prof_long_runs_add(&run);
    prof_histograms_add(&run.site->histograms, PROF_LOOP_RUN, run.self_cycles);
    return run.self_cycles;
}

RARE IN_REGISTERS static void
carry_run(uintptr_t cell, struct prof_histograms *histograms, uintptr_t octave)
{
    prof_histograms_carry(histograms, PROF_LOOP_RUN, (uint32_t)cell,
                          (uint32_t)octave);
}

RARE IN_REGISTERS static void carry_delay(uintptr_t cell,
                                          struct prof_histograms *histograms,
                                          uintptr_t octave)
{
    prof_histograms_carry(histograms, PROF_LOOP_DELAY, (uint32_t)cell,
                          (uint32_t)octave);
}

/* A run is notable; or all of its site are, because calls are counted. */
RARE PROF_LOOP_CALL static void look_at(struct prof_loop_frame *frame,
                                        uint32_t since)
{
    struct prof_loop_site *site = frame->node->site;
    uint64_t own = since;
    uintptr_t cell, octave;

    if (frame->site != site || since >= site->notable)
        own = count_notable(frame, since);
    else if (!prof_histograms_put_run(&site->histograms, since, &cell, &octave))
        carry_run(cell, &site->histograms, octave);
    if (prof_loop_calls_on != 0 && frame->object != 0)
        prof_calls_add(site, frame->object, own);
}

/* The present moment, after a rebase if that is due. */
static inline uint64_t read_rebased(void)
{
    struct prof_loop_reading now = prof_loop_read();

    if (IS_RARE(now.high != prof_loop_cpu_here()->high) ||
        IS_RARE(prof_loop_interrupted()))
        return prof_loop_put_rebase();
    return prof_loop_whole(now);
}

/* (frame) is at the top, and is left (now). */
static inline void leave_at(struct prof_loop_frame *frame, uint32_t now)
{
    uint32_t own = leave_frame(frame, now);
    struct prof_histograms *histograms = &frame->site->histograms;
    uintptr_t cell, octave;

    if (IS_RARE(own >= histograms->notable)) {
        __asm__("" : "+r"(own)); /* compilers would copy it before */
        look_at(frame, own);
        return;
    }
    if (!prof_histograms_put_run(histograms, own, &cell, &octave))
        carry_run(cell, histograms, octave);
}

/* Not only what is rare: each idle span ends with an interrupt. */
RARE PROF_LOOP_CALL static void leave_rebased(struct prof_loop_frame *frame)
{
    leave_at(frame, (uint32_t)prof_loop_put_rebase());
}

static inline void leave_top(struct prof_loop_frame *frame)
{
    struct prof_loop_reading now = prof_loop_read();

    if (IS_RARE(now.high != prof_loop_cpu_here()->high) ||
        IS_RARE(prof_loop_interrupted()))
        leave_rebased(frame);
    else
        leave_at(frame, now.low);
}

/* The same after frames within it that nobody has left, because an exception or
 * a longjmp has. If it does not run at all, nothing is done. */
RARE PROF_LOOP_CALL static void leave_all(struct prof_loop_frame *frame)
{
    const struct prof_loop_frame *at = prof_loop_cpu_here()->top;
    uint32_t depth = 0;

    while (at != frame && at != NULL && depth++ < PROF_LOOP_DEPTH_MAX)
        at = at->outer;
    if (at != frame)
        return;
    while (prof_loop_cpu_here()->top != frame)
        leave_rebased(prof_loop_cpu_here()->top);
    leave_rebased(frame);
}

/* ---- tasks */

static void add_delay(struct prof_loop_site *site, uint64_t delay)
{
    site->row.sums[PROF_LOOP_DELAY].cycles += delay;
    prof_histograms_add(&site->histograms, PROF_LOOP_DELAY, delay);
}

/* Counts since when it was ready until (now), if it was. */
static void count_delay(struct prof_loop_task *task, uint64_t now)
{
    if (prof_loop_is_ready(task))
        add_delay(task->frame.node->site,
                  now - (task->ready & ~PROF_LOOP_NOT_REBASED));
}

RARE PROF_LOOP_CALL static void run_rebased(struct prof_loop_task *task)
{
    uint64_t now = prof_loop_put_rebase();

    enter_frame(&task->frame, (uint32_t)now);
    count_delay(task, now);
}

PROF_LOOP_CALL void prof_loop_put_run(struct prof_loop_task *task)
{
    struct prof_loop_reading now = prof_loop_read();
    const prof_loop_half *ready = prof_loop_halves(&task->ready);
    struct prof_loop_site *site;
    uintptr_t cell, octave;
    uint32_t delay;

    if (IS_RARE(now.high != ready[1]) || IS_RARE(prof_loop_interrupted())) {
        run_rebased(task);
        return;
    }
    enter_frame(&task->frame, now.low);
    delay = subtract(now.low, &ready[0]);
    site = task->frame.site;
    add_cycles(&site->row.sums[PROF_LOOP_DELAY].cycles, delay);
    if (!prof_histograms_put_delay(&site->histograms, delay, &cell, &octave))
        carry_delay(cell, &site->histograms, octave);
}

PROF_LOOP_CALL void prof_loop_put_pause(struct prof_loop_task *task)
{
    prof_loop_set_not_ready(task);
    if (IS_RARE(prof_loop_cpu_here()->top != &task->frame))
        leave_all(&task->frame);
    else
        leave_top(&task->frame);
}

/* A rebase must come before it runs. */
RARE PROF_LOOP_CALL static void wake_rebased(struct prof_loop_task *task)
{
    if (prof_loop_cpu_here()->depth == 0)
        task->ready = prof_loop_put_rebase();
    else
        task->ready = prof_loop_tsc() | PROF_LOOP_NOT_REBASED;
}

PROF_LOOP_CALL void prof_loop_put_wake(struct prof_loop_task *task)
{
    prof_loop_half *ready = prof_loop_halves(&task->ready);
    struct prof_loop_reading now;

    if (prof_loop_is_ready(task))
        return;
    now = prof_loop_read();
    if (IS_RARE(now.high != prof_loop_cpu_here()->high)) {
        wake_rebased(task);
        return;
    }
    ready[0] = now.low;
    ready[1] = now.high;
}

/* ---- callbacks */

RARE PROF_LOOP_CALL static void enter_rebased(struct prof_loop_frame *frame)
{
    enter_frame(frame, (uint32_t)prof_loop_put_rebase());
}

static inline void begin_at(struct prof_loop_frame *frame,
                            struct prof_loop_site *site)
{
    struct prof_loop_reading now;

    frame->site = site;
    frame->node = site->top;
    frame->object = 0;
    now = prof_loop_read();
    if (IS_RARE(now.high != prof_loop_cpu_here()->high) ||
        IS_RARE(prof_loop_interrupted()))
        enter_rebased(frame);
    else
        enter_frame(frame, now.low);
}

/* Named as the others, by which tests/loop knows the readings of changes. */
RARE PROF_LOOP_CALL static void
prof_loop_put_begin_new(struct prof_loop_frame *frame,
                        struct prof_trace_name *name)
{
    begin_at(frame, prof_loop_site_new(name, PROF_LOOP_CALLBACKS));
}

PROF_LOOP_CALL void prof_loop_put_begin(struct prof_loop_frame *frame,
                                        struct prof_trace_name *name)
{
    if (IS_RARE(!prof_loop_site_is_here(name)))
        prof_loop_put_begin_new(frame, name);
    else
        begin_at(frame, &prof_loop_sites_here()->sites[name->loop]);
}

void prof_loop_put_begin_for(struct prof_loop_frame *frame,
                             struct prof_loop_task *task)
{
    uint64_t now = read_rebased();

    frame->node = task->frame.node;
    frame->site = frame->node->site;
    frame->object = task->frame.object;
    enter_frame(frame, (uint32_t)now);
    count_delay(task, now);
    prof_loop_set_not_ready(task);
}

/* Right after (frame) has begun; a reset may have come before it. */
void prof_loop_put_asked(struct prof_loop_frame *frame, uint64_t asked_tsc)
{
    uint64_t begun = prof_loop_begun(frame);

    if (begun > asked_tsc && asked_tsc > prof_loop_cpu_here()->opened_tsc)
        add_delay(frame->node->site, begun - asked_tsc);
}

PROF_LOOP_CALL void prof_loop_put_leave(struct prof_loop_frame *frame)
{
    if (IS_RARE(prof_loop_cpu_here()->top != frame))
        leave_all(frame);
    else
        leave_top(frame);
}

void prof_loop_put_nest(struct prof_loop_frame *frame)
{
    begin_at(frame, &prof_loop_sites_here()->sites[PROF_SITE_LOOP]);
}

void prof_loop_put_profiler(struct prof_loop_frame *frame)
{
    begin_at(frame, &prof_loop_sites_here()->sites[PROF_SITE_PROFILER]);
}

void prof_loop_put_idle(struct prof_loop_frame *frame)
{
    uint64_t now;

    frame->site = &prof_loop_sites_here()->sites[PROF_SITE_IDLE];
    frame->node = frame->site->top;
    frame->object = 0;
    now = read_rebased();
    enter_frame(frame, (uint32_t)now);
}

void prof_loop_put_idle_end(struct prof_loop_frame *frame)
{
    uint64_t now = read_rebased();

    if (IS_RARE(now >= prof_loop_cpu_here()->utilisation.next))
        prof_utilisation_mark(now);
    if (IS_RARE(prof_loop_cpu_here()->top != frame))
        leave_all(frame);
    else
        leave_at(frame, (uint32_t)now);
}
