/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_H
#define PROF_TRACE_H

/*
 * The task recorder: events that a runtime of tasks, promises or coroutines
 * reports.
 *
 * An object is anything that can wait or be waited for: a task, a promise, a
 * mutex, a callback. prof_trace_create() returns its number, which identifies
 * it in all other calls and is never reused.
 *
 *     static PROF_TRACE_SITE(site, "handle_client");
 *     task->trace = prof_trace_create(PROF_TRACE_TASK, &site);
 *     prof_trace_switch(task->trace);        it runs from now on
 *     prof_trace_try_read(promise->trace);   it must wait for the promise
 *     prof_trace_suspend(&waiting_for_disk); it stops running
 *     prof_trace_switch(0);                  the event loop runs again
 *     prof_trace_resolve(promise->trace);    the promise is resolved
 *     prof_trace_wake(task->trace, promise->trace);
 *     prof_trace_switch(task->trace);
 *     prof_trace_read(promise->trace);
 *
 * Events are attributed to the CPU's current object, which is the one last
 * switched to, initially none; between prof_trace_irq_enter() and
 * prof_trace_irq_exit(), to the interrupt.
 *
 * Contexts: any, unless stated otherwise, including an interrupt or NMI during
 * another of these calls. Wait-free, no allocation, general registers only,
 * some 400 bytes of stack. While nothing is recorded, a call is a load and a
 * branch; with PROF_WITH_TRACE 0 (<prof/config.h>) it is nothing.
 *
 * Several CPUs (<prof/cpus.h>): each CPU that has joined records into a ring of
 * its own, and has a current object of its own. On other CPUs these calls have
 * no effect. Objects, names and counters are common to all CPUs: one may create
 * an object, and another end it. A call MUST end on the CPU on which it began:
 * a thread that may migrate disables migration around it. Modes, dumps and
 * statistics belong to the first CPU; any CPU may trigger.
 *
 * Error policy: recording cannot fail. Events and names that do not fit are
 * counted (prof_trace_stats()), and the trace marks where they are missing.
 */

#include <prof/config.h>
#include <prof/cpus.h>
#include <prof/site.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of objects: PROF_TRACE_TASK, PROF_TRACE_PROMISE etc. */
enum prof_trace_kind {
#define PROF_OBJECT(NAME, name, number, meaning) PROF_TRACE_##NAME = (number),
#include <prof/events.def>
};

/* Numbers that stand for no particular object. NONE is also the event loop, or
 * whatever runs while no object does. UNKNOWN is an object that was created
 * while nothing was recorded; all calls accept it. */
#define PROF_TRACE_NONE 0u
#define PROF_TRACE_UNKNOWN UINT32_MAX

/* Longer texts are cut to so many bytes, the last three of which are "...". */
#define PROF_TRACE_TEXT_MAX 120u

/* Counts since the recorder was opened. */
struct prof_trace_stats {
    uint64_t events;      /* events recorded, including lost ones */
    uint64_t lost;        /* events overwritten before they were sent, or not
                            accepted by the transport; without those of a flight
                            recorder */
    uint64_t sent;        /* events sent to the stream, or in dumps */
    uint64_t bytes;       /* bytes of these in the stream, without packet
                             headers */
    uint32_t objects;     /* objects created */
    uint32_t untracked;   /* of these: not in the table of live objects, or
                             without an event */
    uint32_t names;       /* known names, including sites */
    uint32_t names_lost;  /* uses of names for which there was no room */
    uint32_t names_cut;   /* texts longer than PROF_TRACE_TEXT_MAX */
    uint32_t stacks;      /* known stacks of suspends */
    uint32_t stacks_lost; /* suspends without a stack, though stacks are
                             recorded */
    uint32_t dumps;       /* dumps of the flight recorder */
};

enum prof_trace_mode {
    PROF_TRACE_OFF,
    PROF_TRACE_STREAM, /* each prof_drain() sends the events recorded */
    PROF_TRACE_FLIGHT, /* events are kept until a dump; new ones overwrite the
                          oldest */
};

/* Default of prof.trace_kb, in KiB: from the image's heap, or from config.pool;
 * halved while there is less memory left, down to the least. */
#define PROF_TRACE_KIB_HEAP 1024u
#define PROF_TRACE_KIB_POOL 256u
#define PROF_TRACE_KIB_LEAST 64u

/* The least memory of a recorder in bytes. */
#define PROF_TRACE_MEMORY_MIN (24u * 1024u)

/*
 * Opens the recorder in the (bytes) bytes at (memory), which it keeps: 4 KiB
 * for the packet of a dump; half of the rest for events of 32 bytes, a quarter
 * for live objects of 16 bytes, and the remainder for names. Events and objects
 * are divided by config.cpus, so call it after prof_init() if there are several
 * CPUs. Contexts: thread, once. Returns 0, PROF_EMEMORY (NULL, not aligned to 8
 * bytes, or too little), PROF_ESTATE (already open) or PROF_EABSENT.
 */
int prof_trace_open(void *memory, size_t bytes);

/*
 * Starts the recorder as options request: opens one of prof.trace_kb KiB, from
 * prof_port_alloc(), and sets the mode prof.trace. If prof.trace_stacks is set,
 * allocates another PROF_TRACE_STACKS_KIB for stacks. Contexts: thread, after
 * prof_init() and prof_transport_choose(). Returns 0, or as prof_trace_open()
 * and prof_trace_set_mode().
 */
int prof_trace_start(void);

/* Changes the mode. Events not sent yet are sent first if the mode was STREAM,
 * and discarded if it was FLIGHT. Contexts: thread. Returns 0, PROF_EMEMORY (no
 * recorder is open) or PROF_EABSENT. */
int prof_trace_set_mode(enum prof_trace_mode mode);

/* Returns the mode. Contexts: any. */
enum prof_trace_mode prof_trace_mode(void);

/* Sends the events that a flight recorder has kept since the last dump.
 * Contexts: thread. Returns 0, PROF_EFLIGHT (not in flight mode) or
 * PROF_EABSENT. */
int prof_trace_dump(void);

/* Stops a flight recorder; the next prof_drain() dumps and restarts it. No
 * effect in other modes. Contexts: any. */
void prof_trace_trigger(void);

/* Copies the counts of all CPUs together to (stats). Contexts: thread, first
 * CPU. */
void prof_trace_stats(struct prof_trace_stats *stats);

#if PROF_CPUS_MAX > 1
/* Copies the counts of CPU (number), without those of names and dumps, which
 * are common to all CPUs. Returns false if there is no such CPU or no recorder.
 * Contexts: thread, first CPU. */
bool prof_trace_cpu_stats(uint32_t number, struct prof_trace_stats *stats);
#endif

/* ---- implementation of the calls below; private */

#ifdef __i386__
#define PROF_TRACE_CALL __attribute__((regparm(3)))
#else
#define PROF_TRACE_CALL
#endif

/* Records: up to two numbers (a) and (b), a byte and a name. */
enum prof_trace_what {
    PROF_TRACE_DID_CREATE = 1, /* a: object; byte: its kind; name: its site */
    PROF_TRACE_DID_READ,       /* a: source */
    PROF_TRACE_DID_TRY_READ,   /* a: source */
    PROF_TRACE_DID_RESOLVE,    /* a: promise */
    PROF_TRACE_DID_FAIL,       /* a: promise; name: why */
    PROF_TRACE_DID_CANCEL,     /* a: promise */
    PROF_TRACE_DID_GONE,       /* a: object */
    PROF_TRACE_DID_BECOME,     /* a: object; b: what it becomes */
    PROF_TRACE_DID_SIGNAL,     /* a: source; b: signalled object */
    PROF_TRACE_DID_LABEL,      /* a: object; name: the label */
    PROF_TRACE_DID_COUNT,      /* a, b: value, low and high; name: counter */
    PROF_TRACE_DID_SWITCH,     /* a: to; b: from */
    PROF_TRACE_DID_WAKE,       /* a: woken object; b: by what */
    PROF_TRACE_DID_SUSPEND,    /* a: stack, 0 = none; name: why */
    PROF_TRACE_DID_PAUSE,      /* a, b: cycles, low and high; name: why */
    PROF_TRACE_DID_ENTER,      /* byte: vector */
    PROF_TRACE_DID_EXIT,       /* byte: vector */
    PROF_TRACE_DID_DEFER,      /* a: to; byte: vector */
    PROF_TRACE_DID_SEND,       /* a: message */
    PROF_TRACE_DID_RECEIVE,    /* a: message */
    PROF_TRACE_DID_AWAIT,      /* a: waiting object; b: for what */
};

extern uint32_t prof_trace_on;

PROF_TRACE_CALL void prof_trace_put(uint32_t what, uint32_t a, uint32_t b);
PROF_TRACE_CALL void prof_trace_put_end(uint32_t what, uint32_t a, uint32_t b);
PROF_TRACE_CALL void prof_trace_put_switch(uint32_t to);
PROF_TRACE_CALL void prof_trace_put_suspend(struct prof_trace_name *why);
PROF_TRACE_CALL void prof_trace_put_fail(uint32_t a,
                                         struct prof_trace_name *name);
PROF_TRACE_CALL void prof_trace_put_label(uint32_t a,
                                          struct prof_trace_name *name);
PROF_TRACE_CALL void prof_trace_put_count(struct prof_trace_name *name,
                                          uint32_t low, uint32_t high);
PROF_TRACE_CALL void prof_trace_put_step(struct prof_trace_sum *sum,
                                         uint32_t low, uint32_t high);
PROF_TRACE_CALL void prof_trace_put_pause(struct prof_trace_name *name,
                                          uint32_t low, uint32_t high);
PROF_TRACE_CALL uint32_t prof_trace_put_create(uint32_t what,
                                               struct prof_trace_name *site);
void prof_trace_put_text(uint32_t object, const char *text, size_t bytes);
uint32_t prof_trace_get_current(void);

/* Constant without the recorder, so that no call is compiled. */
#define PROF_TRACE_IS_ON                                                       \
    (PROF_WITH_TRACE &&                                                        \
     __builtin_expect(__atomic_load_n(&prof_trace_on, __ATOMIC_RELAXED) != 0,  \
                      0))
#define PROF_TRACE_DO(call)                                                    \
    do {                                                                       \
        if (PROF_TRACE_IS_ON)                                                  \
            call;                                                              \
    } while (0)

/* ---- calls of a runtime */

/* Returns whether events are recorded, so that a runtime can skip the
 * computation of expensive arguments. */
static inline bool prof_trace_is_on(void)
{
    return PROF_TRACE_IS_ON;
}

/* Returns the current object of this CPU; UNKNOWN while nothing is recorded. */
static inline uint32_t prof_trace_current(void)
{
    return PROF_TRACE_IS_ON ? prof_trace_get_current() : PROF_TRACE_UNKNOWN;
}

/* Creates an object of (kind) at (site), which MUST NOT be NULL. Returns its
 * number, from 1 on; or UNKNOWN while nothing is recorded, after 4,294,901,760
 * objects, or if there is no room for its event. */
static inline uint32_t prof_trace_create(enum prof_trace_kind kind,
                                         struct prof_trace_name *site)
{
    return PROF_TRACE_IS_ON
               ? prof_trace_put_create(
                     PROF_TRACE_DID_CREATE | (uint32_t)kind << 8, site)
               : PROF_TRACE_UNKNOWN;
}

/* Report that the current object continues with the result of (source), which
 * was resolved or has failed; or that it must wait for the result. */
static inline void prof_trace_read(uint32_t source)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_READ, source, 0));
}

static inline void prof_trace_try_read(uint32_t source)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_TRY_READ, source, 0));
}

/* Reports that (object), which is not the current one, will wait for (source):
 * a join for its parts, a sleep for its timer, a lock for its holder. */
static inline void prof_trace_await(uint32_t object, uint32_t source)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_AWAIT, object, source));
}

/* Report how an object ends, at most once: resolved, failed because of (why),
 * or cancelled. A task ends like the promise of its result. */
static inline void prof_trace_resolve(uint32_t promise)
{
    PROF_TRACE_DO(prof_trace_put_end(PROF_TRACE_DID_RESOLVE, promise, 0));
}

static inline void prof_trace_fail(uint32_t promise,
                                   struct prof_trace_name *why)
{
    PROF_TRACE_DO(prof_trace_put_fail(promise, why));
}

static inline void prof_trace_cancel(uint32_t promise)
{
    PROF_TRACE_DO(prof_trace_put_end(PROF_TRACE_DID_CANCEL, promise, 0));
}

/* Reports that the object was freed without any of these. */
static inline void prof_trace_gone(uint32_t object)
{
    PROF_TRACE_DO(prof_trace_put_end(PROF_TRACE_DID_GONE, object, 0));
}

/* Reports that (object) is the same as (other) from now on. No later call may
 * name (object). */
static inline void prof_trace_becomes(uint32_t object, uint32_t other)
{
    PROF_TRACE_DO(prof_trace_put_end(PROF_TRACE_DID_BECOME, object, other));
}

/* Reports that a condition, mailbox or lock (source) lets (object) go on. */
static inline void prof_trace_signal(uint32_t source, uint32_t object)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_SIGNAL, source, object));
}

/* Label (object); the last label is displayed. The second form copies the
 * (bytes) bytes of (text), which costs some instructions per byte. */
static inline void prof_trace_label(uint32_t object,
                                    struct prof_trace_name *label)
{
    PROF_TRACE_DO(prof_trace_put_label(object, label));
}

static inline void prof_trace_label_text(uint32_t object, const char *text,
                                         size_t bytes)
{
    PROF_TRACE_DO(prof_trace_put_text(object, text, bytes));
}

/* Sets (counter) to (value). */
static inline void prof_trace_counter(struct prof_trace_name *counter,
                                      int64_t value)
{
    PROF_TRACE_DO(prof_trace_put_count(counter, (uint32_t)value,
                                       (uint32_t)((uint64_t)value >> 32)));
}

/* Adds (delta), which may be negative, to (counter), defined by
 * PROF_TRACE_COUNTER(). The event contains the sum, so that lost events do not
 * falsify later ones. Interrupts may add to the same counter. Calls while
 * nothing is recorded do not change the sum. */
static inline void prof_trace_counter_add(struct prof_trace_sum *counter,
                                          int64_t delta)
{
    PROF_TRACE_DO(prof_trace_put_step(counter, (uint32_t)delta,
                                      (uint32_t)((uint64_t)delta >> 32)));
}

/* Reports that (object) runs from now on; NONE: the event loop. */
static inline void prof_trace_switch(uint32_t object)
{
    PROF_TRACE_DO(prof_trace_put_switch(object));
}

/* Reports that (object) can run again because of (by): a promise, a condition,
 * a timer. It is ready until the switch to it. */
static inline void prof_trace_wake(uint32_t object, uint32_t by)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_WAKE, object, by));
}

/* Reports that the current object stops running because of (why), until it is
 * woken; or, if there is none, that the event loop goes idle. With
 * prof.trace_stacks, also records the call stack, as far as frame pointers and
 * prof_stack_set() allow; it begins with the caller, also in a program that is
 * compiled without optimisation. */
static inline __attribute__((always_inline)) void
prof_trace_suspend(struct prof_trace_name *why)
{
    PROF_TRACE_DO(prof_trace_put_suspend(why));
}

/* Reports that for the last (cycles) TSC cycles nothing but (why) ran, such as
 * a garbage collector. */
static inline void prof_trace_pause(struct prof_trace_name *why,
                                    uint64_t cycles)
{
    PROF_TRACE_DO(
        prof_trace_put_pause(why, (uint32_t)cycles, (uint32_t)(cycles >> 32)));
}

/* Report that interrupt (vector) begins and ends. Interrupts may be nested. */
static inline void prof_trace_irq_enter(uint8_t vector)
{
    PROF_TRACE_DO(
        prof_trace_put(PROF_TRACE_DID_ENTER | (uint32_t)vector << 8, 0, 0));
}

static inline void prof_trace_irq_exit(uint8_t vector)
{
    PROF_TRACE_DO(
        prof_trace_put(PROF_TRACE_DID_EXIT | (uint32_t)vector << 8, 0, 0));
}

/* Reports that interrupt (vector) defers work to (object), a callback or a
 * task. */
static inline void prof_trace_defer(uint8_t vector, uint32_t object)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_DEFER | (uint32_t)vector << 8,
                                 object, 0));
}

/* Reports that a message was sent to, or received from, another machine. Both
 * compute (message) from its bytes, which aligns their traces in time. */
static inline void prof_trace_message(uint32_t message, bool sent)
{
    PROF_TRACE_DO(prof_trace_put(
        sent ? PROF_TRACE_DID_SEND : PROF_TRACE_DID_RECEIVE, message, 0));
}

#ifdef __cplusplus
}
#endif

#endif
