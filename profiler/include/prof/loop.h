/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_H
#define PROF_LOOP_H

/*
 * Who occupies the event loop: exact statistics, kept in place, in memory of a
 * fixed size, without a trace.
 *
 * A runtime embeds a struct prof_loop_task in each of its tasks and reports
 * what it does, from the same places where it calls <prof/trace.h>:
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
 * What runs may start another: then that one runs, until it pauses. Each
 * moment belongs to the innermost one alone, or to an interrupt. The rest is
 * the event loop's own. So the accounts add up to the wall time, to
 * the cycle (prof_loop_account()).
 *
 * Tasks are counted by the place in the source that creates them, their site,
 * and by who has created them: a tree of sites. A site's total is its own time
 * and that of all its descendants, at every depth, whether they run within it,
 * after it has paused or after its end.
 *
 * Contexts: thread, where nothing else is said. Nothing allocates, nothing
 * waits. Until prof_loop_open() a call is a load and a branch; with
 * PROF_WITH_LOOP 0 (<prof/config.h>) it is nothing.
 *
 * Error policy: nothing fails. What there is no room for is counted: a site
 * beyond the last is `others`, a context beyond the last counts for its
 * own site only, a value without room is in no histogram.
 *
 * Times are cycles of the time stamp counter.
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

/* ---- what a runtime embeds; all members are private */

struct prof_loop_node;
struct prof_loop_site;

/* Something that runs, and what it has interrupted. */
struct prof_loop_frame {
    uint32_t start;  /* its begin, moved on by what ran in between */
    uint32_t object; /* a task's number in <prof/trace.h>, 0 = none */
    struct prof_loop_frame *outer;
    struct prof_loop_node *node; /* NULL: not counted */
    struct prof_loop_site *site; /* not the node's: it has run for long, */
    uint64_t before;             /* so long before that */
    uint32_t begin, begin_high;  /* when it began */
};

/* A task. Initially all zero; MUST remain until prof_loop_end() and, if it runs
 * then, the pause after it. */
struct prof_loop_task {
    struct prof_loop_frame frame;
    uint64_t ready;                       /* since when, and whether */
    uint64_t created;                     /* when */
    struct prof_loop_task *older, *newer; /* pending ones of its site */
};

enum prof_loop_end {
    PROF_LOOP_RESOLVED,
    PROF_LOOP_FAILED,
    PROF_LOOP_CANCELLED,
};

/* ---- memory */

/* What one site takes in all; and the least memory. */
#define PROF_LOOP_SITE_BYTES 3072u
#define PROF_LOOP_MEMORY_MIN (16u * PROF_LOOP_SITE_BYTES)
#define PROF_LOOP_KIB_DEFAULT 192u
#define PROF_LOOP_HELD_MS_DEFAULT 20u
#define PROF_LOOP_FREEZE_MS_DEFAULT 100u

/*
 * Begins to count, with (bytes) of (memory) for good: room for as many sites as
 * PROF_LOOP_SITE_BYTES fit in it, less five. The time stamp counter runs at
 * (tsc_hz). Tasks that exist already are not counted.
 * Contexts: thread, once, outside tasks and callbacks. Returns 0, PROF_EMEMORY
 * (NULL, not aligned to 8, or too little), PROF_ESTATE (it is open) or
 * PROF_EABSENT.
 */
int prof_loop_open(void *memory, size_t bytes, uint64_t tsc_hz);

/* What prof.loop asks for: opens with prof.loop_kb KiB from prof_port_alloc(),
 * and counts prof.loop_calls calls; with prof.loop=0 it does nothing. Contexts:
 * thread, after prof_init(). Returns 0, or as prof_loop_open(), or as
 * prof_loop_count_calls(), and then all but calls is counted. */
int prof_loop_start(void);

/* Forgets all times and counts, but not what is pending or runs. */
void prof_loop_reset(void);

/* A run of (held_cycles) or more is listed, with the functions that its samples
 * were in; one of (freeze_cycles) is reported at once by prof_loop_guard(),
 * which with (trigger) also calls prof_trace_trigger(). 0: never, as before the
 * first call. prof_loop_start() takes them from the options. Contexts: thread.
 */
void prof_loop_set_limits(uint64_t held_cycles, uint64_t freeze_cycles,
                          bool trigger);

/*
 * Calls, which cost more and are off until asked for: the own time of each task
 * over its life, and how long each primitive future is pending, which a device,
 * a timer or another task completes. Of (count) tasks and futures at a time,
 * 1 to PROF_LOOP_CALLS_MAX, in (memory) of prof_loop_calls_bytes(count), for
 * good; those beyond are refused, counted, and in no statistics of calls. So
 * are tasks that exist already. Resets all counts. prof_loop_start() does it
 * with prof.loop_calls. Contexts: thread, once, outside tasks and callbacks,
 * after prof_loop_open(). Returns 0, PROF_EMEMORY (NULL, not aligned to 8, or
 * not so many), PROF_ESTATE (not open, or done already) or PROF_EABSENT.
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
 * Further CPUs (<prof/cpus.h>), each with an event loop of its own: all calls
 * count for the CPU that makes them, and those for a task, a frame or a future
 * MUST be made on the CPU that has made it. One counts from its first
 * prof_cpu_poll() on after prof_loop_open_cpu() has given it (memory) of
 * prof_loop_cpu_bytes(), for good. prof_loop_start() does that for all.
 * Contexts: first CPU, thread, once, after prof_loop_open() and
 * prof_loop_count_calls(). Returns 0; PROF_EVALUE for a number that there is
 * not; PROF_EMEMORY (NULL, or not aligned to 8), PROF_ESTATE (not open, or done
 * already) or PROF_EABSENT.
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

/* Whether the calling CPU counts. */
static inline bool prof_loop_counts_here(void)
{
    return true;
}
#endif

/* ---- the implementation of a runtime's calls */

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

/* Without PROF_WITH_LOOP no call of them is left, at any level of optimization:
 * the condition is constant. */
#define PROF_LOOP_IS_ON                                                        \
    (PROF_WITH_LOOP && __builtin_expect(prof_loop_on != 0, 0) &&               \
     prof_loop_counts_here())
#define PROF_LOOP_IF(condition, call)                                          \
    do {                                                                       \
        if (PROF_WITH_LOOP && __builtin_expect(condition, 1))                  \
            call;                                                              \
    } while (0)

/* Whether anything is counted. */
static inline bool prof_loop_is_on(void)
{
    return PROF_LOOP_IS_ON;
}

/* Whether calls are counted as well. */
static inline bool prof_loop_has_calls(void)
{
    return PROF_WITH_LOOP && __builtin_expect(prof_loop_calls_on != 0, 0) &&
           prof_loop_counts_here();
}

/* ---- tasks */

/* A new task, created at (site) by what runs now; (object) is its number in
 * the trace, or else the runtime's own, or 0, and then it has no statistics of
 * calls. It is not ready: either it runs at once, or it is woken. */
static inline void prof_loop_create(struct prof_loop_task *task,
                                    struct prof_trace_name *site,
                                    uint32_t object)
{
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_create(task, site, object));
}

/* From now on (task) counts as created by (parent), NULL: by nobody. */
static inline void prof_loop_adopt(struct prof_loop_task *task,
                                   const struct prof_loop_task *parent)
{
    PROF_LOOP_IF(task->frame.node != NULL, prof_loop_put_adopt(task, parent));
}

/* The task runs, within what runs now; and pauses, or ends, so that this goes
 * on. A pause also ends what runs within it and has not paused. */
static inline void prof_loop_run(struct prof_loop_task *task)
{
    PROF_LOOP_IF(task->frame.node != NULL, prof_loop_put_run(task));
}

static inline void prof_loop_pause(struct prof_loop_task *task)
{
    PROF_LOOP_IF(task->frame.node != NULL, prof_loop_put_pause(task));
}

/* It can run again; the first call after a pause counts. Contexts: any. */
static inline void prof_loop_wake(struct prof_loop_task *task)
{
    PROF_LOOP_IF(task->frame.node != NULL, prof_loop_put_wake(task));
}

/* It has ended, once. It may run, until its next pause. */
static inline void prof_loop_end(struct prof_loop_task *task,
                                 enum prof_loop_end how)
{
    PROF_LOOP_IF(task->frame.node != NULL, prof_loop_put_end(task, how));
}

/* ---- primitive futures, where calls are counted */

/* One is pending from now on, made at (site); (object) is the runtime's own
 * number for it, not 0, and that of no other which is pending. */
static inline void prof_loop_future(struct prof_trace_name *site,
                                    uint32_t object)
{
    PROF_LOOP_IF(prof_loop_has_calls(), prof_loop_put_future(site, object));
}

/* It is done, once. */
static inline void prof_loop_future_end(struct prof_trace_name *site,
                                        uint32_t object, enum prof_loop_end how)
{
    PROF_LOOP_IF(prof_loop_has_calls(),
                 prof_loop_put_future_end(site, object, how));
}

/* ---- callbacks, and the loop itself */

/* A plain callback begins, which belongs to (site), and ends; (frame) is a
 * local variable of whoever calls it. */
static inline void prof_loop_begin(struct prof_loop_frame *frame,
                                   struct prof_trace_name *site)
{
    frame->node = NULL;
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_begin(frame, site));
}

/* The same where an interrupt has asked for the callback, at (asked_tsc): the
 * time since then is its delay. 0: nobody has. */
static inline void prof_loop_begin_asked(struct prof_loop_frame *frame,
                                         struct prof_trace_name *site,
                                         uint64_t asked_tsc)
{
    prof_loop_begin(frame, site);
    PROF_LOOP_IF(asked_tsc != 0 && frame->node != NULL,
                 prof_loop_put_asked(frame, asked_tsc));
}

/* The same on behalf of (task), which was woken, and may end and be freed
 * before prof_loop_leave(). */
static inline void prof_loop_begin_for(struct prof_loop_frame *frame,
                                       struct prof_loop_task *task)
{
    frame->node = NULL;
    PROF_LOOP_IF(task->frame.node != NULL,
                 prof_loop_put_begin_for(frame, task));
}

static inline void prof_loop_leave(struct prof_loop_frame *frame)
{
    PROF_LOOP_IF(frame->node != NULL, prof_loop_put_leave(frame));
}

/* What runs now runs the loop itself, until prof_loop_leave(): meanwhile it
 * holds it no longer. */
static inline void prof_loop_nest(struct prof_loop_frame *frame)
{
    frame->node = NULL;
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_nest(frame));
}

/* The loop waits for an interrupt, and goes on. */
static inline void prof_loop_idle(struct prof_loop_frame *frame)
{
    frame->node = NULL;
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_idle(frame));
}

static inline void prof_loop_idle_end(struct prof_loop_frame *frame)
{
    PROF_LOOP_IF(frame->node != NULL, prof_loop_put_idle_end(frame));
}

/* An interrupt begins and ends. They may be nested; the outermost has all of
 * their time. Contexts: interrupt. */
static inline void prof_loop_irq_enter(void)
{
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_irq_enter());
}

static inline void prof_loop_irq_exit(void)
{
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_irq_exit());
}

/* The freeze guard: to be called by the kernel's timer interrupt after
 * prof_loop_irq_enter(), with what was interrupted. If the loop has been held
 * for too long, that is printed once with (write), which may be NULL, in the
 * interrupt. Some 20 instructions otherwise; 2 KiB of stack. */
static inline void prof_loop_guard(uintptr_t pc, uintptr_t sp, uintptr_t fp,
                                   prof_text_sink *write)
{
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_guard(pc, sp, fp, write));
}

#ifdef __cplusplus
}
#endif

#endif
