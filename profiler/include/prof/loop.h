/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_H
#define PROF_LOOP_H

/*
 * Statistics of the event loop: exact times and counts of tasks and callbacks,
 * accumulated in memory of fixed size, without a trace.
 *
 * A runtime embeds a struct prof_loop_task in each of its tasks and reports
 * state changes, at the same points at which it calls <prof/trace.h>:
 *
 *     static PROF_TRACE_SITE(site, "handle_client");
 *     prof_loop_create(&task->loop, &site, task->trace);
 *     prof_loop_run(&task->loop);          it runs from now on
 *     prof_loop_pause(&task->loop);        it waits
 *     prof_loop_wake(&task->loop);         it is ready
 *     prof_loop_run(&task->loop);
 *     prof_loop_end(&task->loop, PROF_LOOP_RESOLVED);
 *     prof_loop_pause(&task->loop);
 *
 * A task or callback that runs may start another one, which then runs until it
 * pauses. Time counts for the innermost one only, or for an interrupt. The rest
 * counts for the event loop itself. So the accounts add up to the wall time, to
 * the cycle (prof_loop_account()).
 *
 * Tasks are grouped by their site, the source location that creates them, and
 * by the sites of their creators, which form a tree. The total time of a site
 * is its self time and that of all its descendants, at any depth, no matter
 * whether they run within it, while it is paused or after its end.
 *
 * Contexts: thread, unless stated otherwise. No call allocates or waits. Before
 * prof_loop_open() a call is a load and a branch; with PROF_WITH_LOOP 0
 * (<prof/config.h>) it is nothing.
 *
 * Error policy: reporting cannot fail. When memory is exhausted, that is
 * counted: a further site counts as `others`, a further context counts for its
 * own site only, and a value without a bin is in no histogram.
 *
 * All times are TSC cycles.
 */

#include <prof/config.h>
#include <prof/cpus.h>
#include <prof/error.h>
#include <prof/text.h>
#include <prof/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- structs that a runtime embeds; all members are private */

struct prof_loop_node;
struct prof_loop_site;

/* A running task or callback, and the one it interrupts. */
struct prof_loop_frame {
    uint32_t start;  /* its begin, moved forward by what ran in between */
    uint32_t object; /* a task's number in <prof/trace.h>, 0 = none */
    struct prof_loop_frame *outer;
    struct prof_loop_node *node; /* NULL: not counted */
    struct prof_loop_site *site; /* not the node's: it has run for long, */
    uint64_t before;             /* so long before that */
    uint32_t begin, begin_high;  /* when it began */
};

/* A task. MUST be zeroed at first, and MUST remain valid until prof_loop_end()
 * and, if it runs then, the next pause. */
struct prof_loop_task {
    struct prof_loop_frame frame;
    uint64_t ready;                       /* since when, and whether */
    uint64_t created;                     /* when */
    struct prof_loop_task *older, *newer; /* pending tasks of its site */
};

enum prof_loop_end {
    PROF_LOOP_RESOLVED,
    PROF_LOOP_FAILED,
    PROF_LOOP_CANCELLED,
};

/* ---- memory */

/* Bytes that one site needs with its contexts and histograms, the least memory
 * in bytes, and the defaults of the options. */
#define PROF_LOOP_SITE_BYTES 3072u
#define PROF_LOOP_MEMORY_MIN (16u * PROF_LOOP_SITE_BYTES)
#define PROF_LOOP_KIB_DEFAULT 192u
#define PROF_LOOP_HELD_MS_DEFAULT 20u
#define PROF_LOOP_FREEZE_MS_DEFAULT 100u

/*
 * Starts the statistics, in the (bytes) bytes at (memory), which they keep:
 * room for bytes / PROF_LOOP_SITE_BYTES - 5 sites. (tsc_hz) is the TSC
 * frequency in Hz. Tasks that exist already are not counted.
 *
 * Contexts: thread, once, outside tasks and callbacks. Returns 0, PROF_EMEMORY
 * (NULL, not aligned to 8 bytes, or too little), PROF_ESTATE (already open) or
 * PROF_EABSENT.
 */
int prof_loop_open(void *memory, size_t bytes, uint64_t tsc_hz);

/* Starts the statistics as options request: opens them in prof.loop_kb KiB from
 * prof_port_alloc(), sets the limits, and counts prof.loop_calls calls. No
 * effect if prof.loop is 0. Contexts: as prof_loop_open(), after prof_init().
 * Returns 0, or as prof_loop_open(); or as prof_loop_count_calls(), and then
 * everything but calls is counted. */
int prof_loop_start(void);

/* Resets all times and counts. Pending and running tasks remain known.
 * Contexts: thread. */
void prof_loop_reset(void);

/* Sets the limits of long runs, in cycles. A run of (held_cycles) or more is
 * listed, with the functions in which it was sampled. A run of (freeze_cycles)
 * or more is reported by prof_loop_guard() while it lasts, which with (trigger)
 * also calls prof_trace_trigger(). 0, the initial value: no limit.
 * prof_loop_start() sets the limits from the options. Contexts: thread. */
void prof_loop_set_limits(uint64_t held_cycles, uint64_t freeze_cycles,
                          bool trigger);

/*
 * Starts the statistics of calls, which cost more and are off by default: the
 * self time of each task over its life, and how long each primitive future is
 * pending. (A primitive future is one that a device, a timer or another task
 * completes.) Up to (count) tasks and futures, 1 to PROF_LOOP_CALLS_MAX, are
 * followed at a time, in the prof_loop_calls_bytes(count) bytes at (memory),
 * which are kept. Further ones, and tasks that exist already, count as refused,
 * and are in no statistics of calls. Resets all counts. prof_loop_start() calls
 * this if prof.loop_calls is set.
 *
 * Contexts: thread, once, outside tasks and callbacks, after prof_loop_open().
 * Returns 0, PROF_EMEMORY (NULL, not aligned to 8 bytes, or a count out of
 * range), PROF_ESTATE (not open, or called already) or PROF_EABSENT.
 */
#define PROF_LOOP_CALLS_MAX 65536u
#if PROF_WITH_LOOP
size_t prof_loop_calls_bytes(uint32_t count);
int prof_loop_count_calls(void *memory, uint32_t count);
#else
static inline size_t prof_loop_calls_bytes(uint32_t count)
{
    (void)count;
    return 0;
}

static inline int prof_loop_count_calls(void *memory, uint32_t count)
{
    (void)memory;
    (void)count;
    return PROF_EABSENT;
}
#endif

/*
 * Statistics of further CPUs (<prof/cpus.h>), each with an event loop of its
 * own. All calls count for the calling CPU. Calls for a task, a frame or a
 * future MUST be made on the CPU that created it.
 *
 * prof_loop_open_cpu() gives CPU (number) the prof_loop_cpu_bytes() bytes at
 * (memory), which it keeps. The CPU counts from its next prof_cpu_poll() on.
 * prof_loop_start() calls this for all CPUs. Contexts: first CPU, thread, once
 * for each CPU, after prof_loop_open() and prof_loop_count_calls(). Returns 0,
 * PROF_EVALUE (no such CPU), PROF_EMEMORY (NULL, or not aligned to 8 bytes),
 * PROF_ESTATE (not open, or called already) or PROF_EABSENT.
 *
 * prof_loop_counts_here() returns whether the calling CPU counts. Contexts:
 * any.
 */
#if PROF_CPUS_MAX > 1 && PROF_WITH_LOOP
size_t prof_loop_cpu_bytes(void);
int prof_loop_open_cpu(uint32_t number, void *memory);
bool prof_loop_counts_here(void);
#else
static inline size_t prof_loop_cpu_bytes(void)
{
    return 0;
}

static inline int prof_loop_open_cpu(uint32_t number, void *memory)
{
    (void)number;
    (void)memory;
    return PROF_EABSENT;
}

static inline bool prof_loop_counts_here(void)
{
    return true;
}
#endif

/* ---- implementation of the calls below; private */

#ifdef __i386__
#define PROF_LOOP_CALL __attribute__((fastcall))
#else
#define PROF_LOOP_CALL
#endif

extern uint32_t prof_loop_on, prof_loop_calls_on;
PROF_LOOP_CALL void prof_loop_put_run(struct prof_loop_task *task);
PROF_LOOP_CALL void prof_loop_put_pause(struct prof_loop_task *task);
PROF_LOOP_CALL void prof_loop_put_wake(struct prof_loop_task *task);
void prof_loop_put_create(struct prof_loop_task *task,
                          struct prof_trace_name *site, uint32_t object);
void prof_loop_put_adopt(struct prof_loop_task *task,
                         const struct prof_loop_task *parent);
void prof_loop_put_end(struct prof_loop_task *task, enum prof_loop_end how);
void prof_loop_put_future(struct prof_trace_name *site, uint32_t object);
void prof_loop_put_future_end(struct prof_trace_name *site, uint32_t object,
                              enum prof_loop_end how);
PROF_LOOP_CALL void prof_loop_put_begin(struct prof_loop_frame *frame,
                                        struct prof_trace_name *site);
void prof_loop_put_begin_for(struct prof_loop_frame *frame,
                             struct prof_loop_task *task);
void prof_loop_put_asked(struct prof_loop_frame *frame, uint64_t asked_tsc);
PROF_LOOP_CALL void prof_loop_put_leave(struct prof_loop_frame *frame);
void prof_loop_put_nest(struct prof_loop_frame *frame);
void prof_loop_put_idle(struct prof_loop_frame *frame);
void prof_loop_put_idle_end(struct prof_loop_frame *frame);
void prof_loop_put_irq_enter(void);
void prof_loop_put_irq_exit(void);
void prof_loop_put_guard(uintptr_t pc, uintptr_t sp, uintptr_t fp,
                         prof_text_sink *write);

/* Without PROF_WITH_LOOP the condition is constant, so that no call is compiled
 * at any optimization level. */
#define PROF_LOOP_IS_ON                                                        \
    (PROF_WITH_LOOP && __builtin_expect(prof_loop_on != 0, 0) &&               \
     prof_loop_counts_here())
#define PROF_LOOP_IF(condition, call)                                          \
    do {                                                                       \
        if (PROF_WITH_LOOP && __builtin_expect(condition, 1))                  \
            call;                                                              \
    } while (0)

/* Returns whether the statistics are on, for the calling CPU. Contexts: any. */
static inline bool prof_loop_is_on(void)
{
    return PROF_LOOP_IS_ON;
}

/* Returns whether calls are counted, too. Contexts: any. */
static inline bool prof_loop_has_calls(void)
{
    return PROF_WITH_LOOP && __builtin_expect(prof_loop_calls_on != 0, 0) &&
           prof_loop_counts_here();
}

/* ---- tasks */

/* Reports a new task, created at (site) by what runs now. (object) is its
 * number in the trace, or a number of the runtime's own; with 0 it is in no
 * statistics of calls. The task is not ready: it runs at once, or is woken. */
static inline void prof_loop_create(struct prof_loop_task *task,
                                    struct prof_trace_name *site,
                                    uint32_t object)
{
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_create(task, site, object));
}

/* Makes (parent) the creator of (task); NULL: none. */
static inline void prof_loop_adopt(struct prof_loop_task *task,
                                   const struct prof_loop_task *parent)
{
    PROF_LOOP_IF(task->frame.node != NULL, prof_loop_put_adopt(task, parent));
}

/* Report that the task starts to run, within what runs now; and that it pauses
 * or has ended, so that what it interrupted goes on. A pause also ends whatever
 * still runs within the task. */
static inline void prof_loop_run(struct prof_loop_task *task)
{
    PROF_LOOP_IF(task->frame.node != NULL, prof_loop_put_run(task));
}

static inline void prof_loop_pause(struct prof_loop_task *task)
{
    PROF_LOOP_IF(task->frame.node != NULL, prof_loop_put_pause(task));
}

/* Reports that the task is ready to run. Of several calls after a pause, the
 * first one counts. Contexts: any. */
static inline void prof_loop_wake(struct prof_loop_task *task)
{
    PROF_LOOP_IF(task->frame.node != NULL, prof_loop_put_wake(task));
}

/* Reports that the task has ended, and (how); once. It may go on running until
 * its next pause. */
static inline void prof_loop_end(struct prof_loop_task *task,
                                 enum prof_loop_end how)
{
    PROF_LOOP_IF(task->frame.node != NULL, prof_loop_put_end(task, how));
}

/* ---- primitive futures, if calls are counted */

/* Reports a new pending future, created at (site). (object) is the runtime's
 * own number for it, not 0, and unique among pending futures. */
static inline void prof_loop_future(struct prof_trace_name *site,
                                    uint32_t object)
{
    PROF_LOOP_IF(prof_loop_has_calls(), prof_loop_put_future(site, object));
}

/* Reports that the future is completed, and (how); once. */
static inline void prof_loop_future_end(struct prof_trace_name *site,
                                        uint32_t object, enum prof_loop_end how)
{
    PROF_LOOP_IF(prof_loop_has_calls(),
                 prof_loop_put_future_end(site, object, how));
}

/* ---- callbacks, and the loop itself */

/* Reports that a plain callback of (site) begins. (frame) is a local variable
 * of the caller, and is passed to prof_loop_leave() when the callback ends. */
static inline void prof_loop_begin(struct prof_loop_frame *frame,
                                   struct prof_trace_name *site)
{
    frame->node = NULL;
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_begin(frame, site));
}

/* Like prof_loop_begin(), for a callback that an interrupt requested at TSC
 * value (asked_tsc): the time since then is its delay. 0: no request. */
static inline void prof_loop_begin_asked(struct prof_loop_frame *frame,
                                         struct prof_trace_name *site,
                                         uint64_t asked_tsc)
{
    prof_loop_begin(frame, site);
    PROF_LOOP_IF(asked_tsc != 0 && frame->node != NULL,
                 prof_loop_put_asked(frame, asked_tsc));
}

/* Like prof_loop_begin(), on behalf of (task), which was woken, and may end and
 * be freed before prof_loop_leave(). */
static inline void prof_loop_begin_for(struct prof_loop_frame *frame,
                                       struct prof_loop_task *task)
{
    frame->node = NULL;
    PROF_LOOP_IF(task->frame.node != NULL,
                 prof_loop_put_begin_for(frame, task));
}

/* Reports the end of what began with (frame). */
static inline void prof_loop_leave(struct prof_loop_frame *frame)
{
    PROF_LOOP_IF(frame->node != NULL, prof_loop_put_leave(frame));
}

/* Reports that what runs now runs the event loop itself (a nested loop), until
 * prof_loop_leave(). Meanwhile it does not hold the loop. */
static inline void prof_loop_nest(struct prof_loop_frame *frame)
{
    frame->node = NULL;
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_nest(frame));
}

/* Report that the loop waits for an interrupt, and that it goes on. */
static inline void prof_loop_idle(struct prof_loop_frame *frame)
{
    frame->node = NULL;
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_idle(frame));
}

static inline void prof_loop_idle_end(struct prof_loop_frame *frame)
{
    PROF_LOOP_IF(frame->node != NULL, prof_loop_put_idle_end(frame));
}

/* Report that an interrupt begins and ends. Interrupts may be nested; all of
 * the time counts for the outermost. Contexts: interrupt. */
static inline void prof_loop_irq_enter(void)
{
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_irq_enter());
}

static inline void prof_loop_irq_exit(void)
{
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_irq_exit());
}

/* The freeze guard: detects a run that holds the loop beyond the freeze limit.
 * The kernel's timer interrupt calls it after prof_loop_irq_enter(), with the
 * interrupted code address (pc), stack pointer (sp) and frame pointer (fp). A
 * freeze is counted and printed once through (write), which may be NULL, in the
 * interrupt. Otherwise the call takes some 20 instructions. Contexts:
 * interrupt; 2 KiB of stack. */
static inline void prof_loop_guard(uintptr_t pc, uintptr_t sp, uintptr_t fp,
                                   prof_text_sink *write)
{
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_guard(pc, sp, fp, write));
}

#ifdef __cplusplus
}
#endif

#endif
