/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_LOOP_H
#define KERNEL_LOOP_H

/*
 * The event loop: one thread with timers, which halts when there is no work.
 *
 * A service sets timers and returns, or works in slices and calls loop_poll()
 * between them. Callbacks run on the loop's stack with interrupts on and may
 * use the heap. They are never nested.
 */

#include <kernel/timer.h>
#include <prof/trace.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* This place in the source, by which <prof/loop.h> names what is called. */
#define LOOP_HERE(text)                                                        \
    (__extension__({                                                           \
        static PROF_TRACE_SITE(loop_here_, text);                              \
        &loop_here_;                                                           \
    }))

/* Calls (callback) with (context) once, (delay_ns) from now. An armed timer is
 * cancelled first. */
#define loop_once(timer, delay_ns, callback, context)                          \
    loop_once_at(LOOP_HERE(#callback), timer, delay_ns, callback, context)
void loop_once_at(struct prof_trace_name *site, struct loop_timer *timer,
                  uint64_t delay_ns, loop_callback *callback, void *context);

/*
 * The same every (period_ns), first after one period. Missed calls are combined
 * into one, and later calls stay at multiples of the period.
 */
#define loop_every(timer, period_ns, callback, context)                        \
    loop_every_at(LOOP_HERE(#callback), timer, period_ns, callback, context)
void loop_every_at(struct prof_trace_name *site, struct loop_timer *timer,
                   uint64_t period_ns, loop_callback *callback, void *context);

/* Disarms (timer). It need not be armed. Allowed in its own callback. */
void loop_cancel(struct loop_timer *timer);

/*
 * A source of work besides timers, such as a device. Owned by the caller; MUST
 * exist forever after loop_add().
 */
struct loop_source {
    /* Whether there is work. Called before each halt with interrupts off, so
     * that an interrupt for later work ends the halt. MUST NOT wait. */
    bool (*waiting)(void);
    void (*turn)(void);           /* called in each turn, after timers */
    uint64_t (*due_ns)(void);     /* clock_ns() at which it needs a turn without
                                     an interrupt, UINT64_MAX: never. Called
                                     before the first halt, with interrupts off.
                                     NULL: never */
    struct prof_trace_name *site; /* whose time that is, for <prof/loop.h>;
                                     NULL: the loop's own */
    unsigned device;              /* whose interrupts are for it: VIRTIO_...,
                                     0 = none */
    uint32_t trace;               /* private: its number (<prof/trace.h>) */
    uint64_t asked_tsc;           /* private: of the first interrupt since its
                                     last turn, 0 = none */
    struct loop_source *next;     /* private */
};
void loop_add(struct loop_source *source);

/* Whether one of the sources' functions is in the (bytes) bytes at (begin), or
 * one of the loop's own: they look for work. For causal experiments. */
bool loop_polls(uintptr_t begin, size_t bytes);

/* An answer from outside: of a device or a peer. Owned by the caller. */
struct loop_answer {
    loop_callback *callback;
    void *context;
    struct prof_trace_name *site; /* for <prof/loop.h>; NULL: the caller's */
    /* Delivers what has arrived while this one was handled. True: it is in the
     * same turn if it is due, as without experiments. NULL: in the next. */
    bool (*more)(void);
};

/*
 * Calls it when it is due by the clock of causal experiments (<prof/causal.h>),
 * in the order of due times, after the timers of its turn. Without experiments:
 * at once.
 */
void loop_deliver(struct loop_answer *answer, uint64_t due);

/* The source for (device), for the recorder (<prof/trace.h>): PROF_TRACE_NONE,
 * there is none. Contexts: any. */
uint32_t loop_device(unsigned device);

/* An interrupt of (device) leaves its work to the loop: for <prof/loop.h>.
 * Contexts: interrupt. */
void loop_asked(unsigned device);

/* Runs what is due without waiting. Nested calls do nothing. */
void loop_poll(void);

/* Runs what is due. If nothing is, waits until something is: a timer, or a
 * source that has work. */
void loop_wait(void);

/*
 * Makes loop_poll() do nothing, as in a callback, or no longer. Returns whether
 * it did nothing before, which is to be restored. For tasks.
 */
bool loop_hold(bool held);

/* Runs callbacks, halting between them, until loop_stop() is called. */
void loop_run(void);
void loop_stop(void);

#ifdef __cplusplus
}
#endif

#endif
