/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_LOOP_H
#define KERNEL_LOOP_H

/*
 * The event loop: one thread, timers, a halt when there is nothing to do.
 *
 * A service sets timers and returns, or works in slices and calls loop_poll()
 * between them. Callbacks run on the loop's stack with interrupts on and may
 * use the heap; they are never nested.
 */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void loop_callback(void *context);

/* Belongs to the caller, who keeps it as long as it is armed. Zero at first. */
struct loop_timer {
    uint64_t due_ns;    /* clock_ns() at which it is due */
    uint64_t period_ns; /* 0 = one-shot */
    loop_callback *callback;
    void *context;           /* handed to callback */
    struct loop_timer *next; /* the loop's own: later in the queue */
    bool armed;              /* the loop's own */
};

/* Calls (callback) with (context) once, (delay_ns) from now. Re-arms. */
void loop_once(struct loop_timer *timer, uint64_t delay_ns,
               loop_callback *callback, void *context);

/*
 * The same every (period_ns), first after one period. Calls that could not be
 * made in time are made up by one, not by many, and the grid is kept.
 */
void loop_every(struct loop_timer *timer, uint64_t period_ns,
                loop_callback *callback, void *context);

/* Disarms (timer); harmless when it is not armed, and from its own callback. */
void loop_cancel(struct loop_timer *timer);

/*
 * Something besides timers that brings work, as a device does. Belongs to the
 * caller, who keeps it for good.
 */
struct loop_source {
    /* Whether there is work. Asked before each halt, interrupts off, so that
     * what comes later ends the halt by an interrupt. Must not wait. */
    bool (*waiting)(void);
    void (*turn)(void);       /* called in each turn, after what was due */
    struct loop_source *next; /* the loop's own */
};
void loop_add(struct loop_source *source);

/* Runs what is due and returns without waiting. Nested calls do nothing. */
void loop_poll(void);

/* Runs what is due, or waits for the next interrupt when nothing is. */
void loop_wait(void);

/* Runs callbacks, halting between them, until loop_stop() is called. */
void loop_run(void);
void loop_stop(void);

#ifdef __cplusplus
}
#endif

#endif
