/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_LOOP_H
#define KERNEL_LOOP_H

/*
 * The event loop: one thread with timers, which halts when there is no work.
 *
 * A service sets timers and returns, or works in slices and calls loop_poll()
 * between them. Callbacks run on the loop's stack with interrupts on, and may
 * use the heap. They are never nested. Contexts: thread, unless stated
 * otherwise.
 */

#include <kernel/timer.h>
#include <prof/trace.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A site for this source location, for the statistics of <prof/loop.h>. */
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
 * Like loop_once(), every (period_ns), first after one period. Missed calls are
 * merged into one, and later calls stay at multiples of the period.
 */
#define loop_every(timer, period_ns, callback, context)                        \
    loop_every_at(LOOP_HERE(#callback), timer, period_ns, callback, context)
void loop_every_at(struct prof_trace_name *site, struct loop_timer *timer,
                   uint64_t period_ns, loop_callback *callback, void *context);

/* Disarms (timer). No effect if it is not armed. May be called in the timer's
 * own callback. */
void loop_cancel(struct loop_timer *timer);

/*
 * A source of work besides timers, such as a device. Owned by the caller; MUST
 * remain valid for ever after loop_add().
 */
struct loop_source {
    /* Returns whether there is work. Called before each halt with interrupts
     * off, so that an interrupt for later work ends the halt. MUST NOT wait. */
    bool (*waiting)(void);
    void (*turn)(void);           /* called in each turn, after timers */
    uint64_t (*due_ns)(void);     /* returns the clock_ns() at which it needs a
                                     turn without an interrupt, UINT64_MAX:
                                     never. Called before the first halt, with
                                     interrupts off. NULL: never */
    struct prof_trace_name *site; /* that its time counts for in <prof/loop.h>;
                                     NULL: the loop itself */
    unsigned device;              /* whose interrupts announce work:
                                     VIRTIO_..., 0 = none */
    uint32_t trace;               /* private: number in <prof/trace.h> */
    uint64_t asked_tsc;           /* private: TSC of the first interrupt since
                                     its last turn, 0 = none */
    struct loop_source *next;     /* private */
};

/* Adds (source) to the loop. */
void loop_add(struct loop_source *source);

/* Returns whether the (bytes) bytes at (begin) contain a function that polls
 * for work, which is one of a source or of the loop itself. For causal
 * experiments. */
bool loop_polls(uintptr_t begin, size_t bytes);

/* An answer of a device or a peer. Owned by the caller. */
struct loop_answer {
    loop_callback *callback;
    void *context;
    struct prof_trace_name *site; /* for <prof/loop.h>; NULL: the caller's */
    /* Delivers what has arrived while this answer was handled. Returns true if
     * it is handled in the same turn if due, as without experiments. NULL: in
     * the next turn. */
    bool (*more)(void);
};

/*
 * Calls the answer's callback at virtual time (due) of causal experiments
 * (<prof/causal.h>), in the order of due times, after the timers of the same
 * turn. Outside experiments: at once.
 */
void loop_deliver(struct loop_answer *answer, uint64_t due);

/* Returns the trace number (<prof/trace.h>) of the source for (device);
 * PROF_TRACE_NONE if there is none. Contexts: any. */
uint32_t loop_device(unsigned device);

/* Reports to <prof/loop.h> that an interrupt of (device) defers its work to the
 * loop. Contexts: interrupt. */
void loop_asked(unsigned device);

/* Runs what is due, without waiting. Nested calls have no effect. */
void loop_poll(void);

/* Runs what is due. If nothing is, waits for a timer, or for a source that has
 * work. */
void loop_wait(void);

/*
 * Disables loop_poll(), as in a callback, if (held), or enables it again.
 * Returns the previous state, to be restored. For tasks.
 */
bool loop_hold(bool held);

/* Runs callbacks, and halts between them, until loop_stop() is called. */
void loop_run(void);
void loop_stop(void);

#ifdef __cplusplus
}
#endif

#endif
