/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

/* A timer of the event loop; see loop.h. */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prof_trace_name;
typedef void loop_callback(void *context);

/* Owned by the caller, zeroed at first; MUST exist while it is armed. */
struct loop_timer {
    uint64_t due_ns;    /* clock_ns() at which it expires */
    uint64_t period_ns; /* 0 = one-shot */
    loop_callback *callback;
    void *context;                              /* argument of callback */
    struct loop_timer *child, *sibling, **link; /* private: timers.c */
    uint32_t order;                             /* private: of insertion */
    bool armed;                                 /* private */
    bool own;                     /* the profiler's own: not in traces */
    uint32_t trace;               /* private: number in <prof/trace.h> */
    struct prof_trace_name *site; /* private: where it was armed */
};

#ifdef __cplusplus
}
#endif

#endif
