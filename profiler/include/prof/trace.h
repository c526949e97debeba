/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_H
#define PROF_TRACE_H

/*
 * What a runtime of tasks, promises or coroutines reports to the recorder.
 *
 * An object is whatever may wait or be waited for: a task, a promise, a mutex,
 * a callback. prof_trace_create() gives it a number, which is never given
 * again, and by which the runtime names it.
 *
 *     static PROF_TRACE_SITE(site, "handle_client");
 *     task->trace = prof_trace_create(PROF_TRACE_TASK, &site);
 *     prof_trace_switch(task->trace);        it runs from now on
 *     prof_trace_try_read(promise->trace);   it looks, and will have to wait
 *     prof_trace_suspend(&waiting_for_disk); it stops running
 *     prof_trace_switch(0);                  the event loop runs again
 *     prof_trace_resolve(promise->trace);    somebody resolves the promise
 *     prof_trace_wake(task->trace, promise->trace);
 *     prof_trace_switch(task->trace);
 *     prof_trace_read(promise->trace);
 *
 * What is reported is done by the CPU's current object: the one that was last
 * switched to, at first none; between prof_trace_irq_enter() and
 * prof_trace_irq_exit(), by the interrupt.
 *
 * Contexts: any, also an interrupt or an NMI in the middle of a call to here,
 * where nothing else is said. Wait-free, no allocation, general registers only,
 * some 400 bytes of stack. While nothing is recorded a call is a load and a
 * branch; with PROF_WITH_TRACE 0 (<prof/config.h>) it is nothing.
 *
 * Several CPUs (<prof/cpus.h>): each one that has joined records, into a ring
 * of its own, and has a current object of its own; on others these calls do
 * nothing. Objects, names and counters are common to all: one CPU may create an
 * object and another one end it. A call must end on the CPU on which it has
 * begun: a thread that may be moved to another one in between reports with that
 * turned off. Modes, dumps and statistics are the first CPU's; a trigger may
 * come from any.
 *
 * Nothing fails. What there is no room for is counted (prof_trace_stats()), and
 * marked in the trace where it is missing.
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

/* Kinds of objects: PROF_TRACE_TASK, PROF_TRACE_PROMISE and so on. */
enum prof_trace_kind {
#define PROF_OBJECT(NAME, name, number, meaning) PROF_TRACE_##NAME = (number),
#include <prof/events.def>
};

/* Object numbers that are none. NONE is also the event loop, or whatever runs
 * where no object does. UNKNOWN is an object that was created while nothing was
 * recorded; all calls take it. */
#define PROF_TRACE_NONE 0u
#define PROF_TRACE_UNKNOWN UINT32_MAX

/* Longer texts are cut to so many bytes, the last three of which are "...". */
#define PROF_TRACE_TEXT_MAX 120u

/* What is counted since the recorder was opened. */
struct prof_trace_stats {
    uint64_t events;      /* recorded, those lost included */
    uint64_t lost;        /* overwritten before they were sent, or not taken by
                            the transport; not those of a flight recorder */
    uint64_t sent;        /* to the stream, or in dumps */
    uint64_t bytes;       /* of these in the stream, without packets' heads */
    uint32_t objects;     /* created */
    uint32_t untracked;   /* of these: not in the table of live objects, or
                             without an event */
    uint32_t names;       /* known, sites included */
    uint32_t names_lost;  /* uses of names for which there was no room */
    uint32_t names_cut;   /* texts beyond PROF_TRACE_TEXT_MAX */
    uint32_t stacks;      /* known, of suspends */
    uint32_t stacks_lost; /* suspends without one, though stacks are recorded */
    uint32_t dumps;       /* of the flight recorder */
};

enum prof_trace_mode {
    PROF_TRACE_OFF,
    PROF_TRACE_STREAM, /* each prof_drain() sends what was recorded */
    PROF_TRACE_FLIGHT, /* kept, the oldest overwritten, until a dump */
};

/* KiB that a recorder gets without prof.trace_kb: of the image's heap, or of
 * config.pool; halved where there is not so much left, down to the least. */
#define PROF_TRACE_KIB_HEAP 1024u
#define PROF_TRACE_KIB_POOL 256u
#define PROF_TRACE_KIB_LEAST 64u

/* The least memory of a recorder, and what one object takes of it. */
#define PROF_TRACE_MEMORY_MIN (24u * 1024u)

/*
 * Gives the recorder its memory, for good: 4 KiB for the packet of a dump; half
 * of the rest for events of 32 bytes, a quarter for live objects of 16, and
 * what is left for names. Events and objects are divided by config.cpus, so
 * with several CPUs this is called after prof_init(). Contexts: thread, once.
 * Returns 0, PROF_EMEMORY (NULL, not aligned to 8, or too little), PROF_ESTATE
 * (there is one already) or PROF_EABSENT.
 */
int prof_trace_open(void *memory, size_t bytes);

/*
 * What prof.trace asks for: opens a recorder of prof.trace_kb KiB, from
 * prof_port_alloc(), and sets the mode. With prof.trace_stacks, stacks get
 * another PROF_TRACE_STACKS_KIB. Contexts: thread, after prof_init() and the
 * choice of a transport. Returns 0 or as the calls around it.
 */
int prof_trace_start(void);

/* Changes the mode. What was recorded and not sent is sent first where the mode
 * was STREAM, and forgotten where it was FLIGHT. Contexts: thread. Returns 0,
 * PROF_EMEMORY (no recorder was opened) or PROF_EABSENT. */
int prof_trace_set_mode(enum prof_trace_mode mode);
enum prof_trace_mode prof_trace_mode(void);

/* Sends what a flight recorder has kept, from the last dump on. Contexts:
 * thread. Returns 0, PROF_EFLIGHT (it is none) or PROF_EABSENT. */
int prof_trace_dump(void);

/* Stops a flight recorder; the next prof_drain() dumps it, and it goes on. No
 * effect in other modes. Contexts: any. */
void prof_trace_trigger(void);

/* Of all CPUs together. Contexts: thread, first CPU. */
void prof_trace_stats(struct prof_trace_stats *stats);

#if PROF_CPUS_MAX > 1
/* The same of CPU (number), without names and dumps, which are not a CPU's.
 * False: there is none, or no recorder. */
bool prof_trace_cpu_stats(uint32_t number, struct prof_trace_stats *stats);
#endif

/* ---- the implementation of the calls */

#ifdef __i386__
#define PROF_TRACE_CALL __attribute__((regparm(3)))
#else
#define PROF_TRACE_CALL
#endif

/* What is recorded, with up to two numbers (a) and (b), a byte and a name. */
enum prof_trace_what {
    PROF_TRACE_DID_CREATE = 1, /* a: object; byte: its kind; name: its site */
    PROF_TRACE_DID_READ,       /* a: source */
    PROF_TRACE_DID_TRY_READ,   /* a: source */
    PROF_TRACE_DID_RESOLVE,    /* a: promise */
    PROF_TRACE_DID_FAIL,       /* a: promise; name: why */
    PROF_TRACE_DID_CANCEL,     /* a: promise */
    PROF_TRACE_DID_GONE,       /* a: object */
    PROF_TRACE_DID_BECOME,     /* a: object; b: what it becomes */
    PROF_TRACE_DID_SIGNAL,     /* a: source; b: who is signalled */
    PROF_TRACE_DID_LABEL,      /* a: object; name: the label */
    PROF_TRACE_DID_COUNT,      /* a, b: value, low and high; name: counter */
    PROF_TRACE_DID_SWITCH,     /* a: to; b: from */
    PROF_TRACE_DID_WAKE,       /* a: who is woken; b: by what */
    PROF_TRACE_DID_SUSPEND,    /* a: stack, 0 = none; name: why */
    PROF_TRACE_DID_PAUSE,      /* a, b: cycles, low and high; name: why */
    PROF_TRACE_DID_ENTER,      /* byte: vector */
    PROF_TRACE_DID_EXIT,       /* byte: vector */
    PROF_TRACE_DID_DEFER,      /* a: to; byte: vector */
    PROF_TRACE_DID_SEND,       /* a: message */
    PROF_TRACE_DID_RECEIVE,    /* a: message */
    PROF_TRACE_DID_AWAIT,      /* a: who; b: for what */
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

/* Without the recorder this is constant, and no call is compiled. */
#define PROF_TRACE_IS_ON                                                       \
    (PROF_WITH_TRACE &&                                                        \
     __builtin_expect(__atomic_load_n(&prof_trace_on, __ATOMIC_RELAXED) != 0,  \
                      0))
#define PROF_TRACE_DO(call)                                                    \
    do {                                                                       \
        if (PROF_TRACE_IS_ON)                                                  \
            call;                                                              \
    } while (0)

/* ---- what a runtime calls */

/* Whether anything is recorded: for what costs something to find out. */
static inline bool prof_trace_is_on(void)
{
    return PROF_TRACE_IS_ON;
}

/* The current object of this CPU; UNKNOWN while nothing is recorded. */
static inline uint32_t prof_trace_current(void)
{
    return PROF_TRACE_IS_ON ? prof_trace_get_current() : PROF_TRACE_UNKNOWN;
}

/* A new object, created at (site), which is not NULL. Returns its number, from
 * 1 on, or UNKNOWN while nothing is recorded, after 4,294,901,760 objects, and
 * where there is no room for its event. */
static inline uint32_t prof_trace_create(enum prof_trace_kind kind,
                                         struct prof_trace_name *site)
{
    return PROF_TRACE_IS_ON
               ? prof_trace_put_create(
                     PROF_TRACE_DID_CREATE | (uint32_t)kind << 8, site)
               : PROF_TRACE_UNKNOWN;
}

/* The current object continues with the result of (source), which has been
 * resolved or has failed; or looks at it, and will have to wait. */
static inline void prof_trace_read(uint32_t source)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_READ, source, 0));
}

static inline void prof_trace_try_read(uint32_t source)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_TRY_READ, source, 0));
}

/* (object), which is not the current one, will wait for (source): a join for
 * what it joins, a sleep for its timer, a lock for whom has it. */
static inline void prof_trace_await(uint32_t object, uint32_t source)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_AWAIT, object, source));
}

/* How an object ends, once at most: resolved, failed because of (why), or
 * cancelled. A task ends like the promise of its result. */
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

/* The object was freed without any of these. */
static inline void prof_trace_gone(uint32_t object)
{
    PROF_TRACE_DO(prof_trace_put_end(PROF_TRACE_DID_GONE, object, 0));
}

/* From now on (object) is the same as (other), and is not named again. */
static inline void prof_trace_becomes(uint32_t object, uint32_t other)
{
    PROF_TRACE_DO(prof_trace_put_end(PROF_TRACE_DID_BECOME, object, other));
}

/* A condition, mailbox or lock (source) lets (object) go on. */
static inline void prof_trace_signal(uint32_t source, uint32_t object)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_SIGNAL, source, object));
}

/* Names (object); the last label is the one shown. The second form copies a
 * text that is not constant, which costs some instructions for each byte. */
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

/* (counter) has the value (value) from now on. */
static inline void prof_trace_counter(struct prof_trace_name *counter,
                                      int64_t value)
{
    PROF_TRACE_DO(prof_trace_put_count(counter, (uint32_t)value,
                                       (uint32_t)((uint64_t)value >> 32)));
}

/* (counter), of PROF_TRACE_COUNTER(), increases by (delta), or decreases. The
 * event has the sum, so that losses do not make later ones wrong. Interrupts
 * may add to the same counter. Steps while nothing is recorded are not in the
 * sum. */
static inline void prof_trace_counter_add(struct prof_trace_sum *counter,
                                          int64_t delta)
{
    PROF_TRACE_DO(prof_trace_put_step(counter, (uint32_t)delta,
                                      (uint32_t)((uint64_t)delta >> 32)));
}

/* (object) runs from now on, NONE: the event loop. */
static inline void prof_trace_switch(uint32_t object)
{
    PROF_TRACE_DO(prof_trace_put_switch(object));
}

/* (object) can run again, because of (by): a promise, a condition, a timer. It
 * is ready until the switch to it. */
static inline void prof_trace_wake(uint32_t object, uint32_t by)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_WAKE, object, by));
}

/* The current object stops running because of (why), until it is woken. Where
 * it is none: the event loop goes idle. With prof.trace_stacks the call stack
 * is recorded as well, as far as frame pointers and prof_stack_set() allow. */
static inline void prof_trace_suspend(struct prof_trace_name *why)
{
    PROF_TRACE_DO(prof_trace_put_suspend(why));
}

/* For (cycles) until now nothing else ran: a garbage collector, say. */
static inline void prof_trace_pause(struct prof_trace_name *why,
                                    uint64_t cycles)
{
    PROF_TRACE_DO(
        prof_trace_put_pause(why, (uint32_t)cycles, (uint32_t)(cycles >> 32)));
}

/* An interrupt begins and ends. They may be nested. */
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

/* The interrupt leaves the rest of its work to (object), a callback or a
 * task. */
static inline void prof_trace_defer(uint8_t vector, uint32_t object)
{
    PROF_TRACE_DO(prof_trace_put(PROF_TRACE_DID_DEFER | (uint32_t)vector << 8,
                                 object, 0));
}

/* Both machines compute (message) of its bytes: traces are aligned by it. */
static inline void prof_trace_message(uint32_t message, bool sent)
{
    PROF_TRACE_DO(prof_trace_put(
        sent ? PROF_TRACE_DID_SEND : PROF_TRACE_DID_RECEIVE, message, 0));
}

#ifdef __cplusplus
}
#endif

#endif
