/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CPU_H
#define KERNEL_CPU_H

/*
 * Several CPUs (make CPUS=4). Each CPU has an event loop of its own (loop.h),
 * with its own timers and sources; CPUs share no work. service_main() and all
 * devices run on CPU 0. The other CPUs wait for messages.
 *
 * CPUs other than 0 may use loop.h, clock.h, console_line(), malloc(), free(),
 * and functions of the C library without state, such as memcpy(), and
 * snprintf() without floating point; and task.h, promise.h and sync.h for
 * tasks, promises and mutexes of their own. stdio, errno, disk and network are
 * for CPU 0 only. An exception, panic() or exit() on any CPU ends the image.
 *
 * A promise, and whatever waits for it, belongs to the CPU that created it.
 * Other CPUs MUST NOT use it, except by cpu_resolve(), which completes it from
 * any CPU. cpu_async() returns a promise of another CPU's result.
 *
 * An image for one CPU has these calls, too; its only CPU is CPU 0.
 */

#include <kernel/promise.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most CPUs of an image: 1, unless it is built for several. */
#ifdef ARCH_CPUS_MAX
#define CPU_MAX ARCH_CPUS_MAX
#else
#define CPU_MAX 1
#endif

/* Returns the number of running CPUs: those of the machine, without CPUs that
 * did not start or are beyond the option cpus=N. They are numbered from 0.
 * Contexts: any, after boot. */
unsigned cpu_count(void);

/* Returns the number of the calling CPU. Contexts: any. */
unsigned cpu_number(void);

typedef void cpu_function(void *context);

/* Owned by the caller, zeroed at first; MUST exist until the function is
 * called, and may be reused from then on. */
struct cpu_message {
    cpu_function *function;
    void *context;
    struct cpu_message *next; /* private */
    uint32_t trace;           /* private: number in <prof/trace.h> */
    bool own;                 /* the profiler's own: not recorded */
};

/*
 * Calls message->function(message->context) in the event loop of (cpu), below
 * cpu_count(), which may be the calling CPU. Messages from one CPU to another
 * arrive in order. Takes no lock and allocates no memory. A message MUST NOT be
 * sent again before its function is called. Contexts: any.
 */
void cpu_send(unsigned cpu, struct cpu_message *message);

/* Like cpu_send(), with a message that it allocates. Returns false if there is
 * no memory. Contexts: thread. */
bool cpu_call(unsigned cpu, cpu_function *function, void *context);

/*
 * Completes (promise) by promise_resolve() on the CPU that created it, a little
 * later. (resolve) is owned by the caller like a cpu_message; its members need
 * not be set. Contexts: any, on each CPU.
 */
struct cpu_resolve {
    struct cpu_message message; /* private */
    struct promise *promise;    /* private */
    uintptr_t value;            /* private */
};
void cpu_resolve(struct cpu_resolve *resolve, struct promise *promise,
                 uintptr_t value);

/*
 * Calls (function) with (context) in the event loop of (cpu). Returns a promise
 * that resolves with the function's result; NULL if there is no memory, and
 * then the function is not called. Freeing the promise does not stop the call:
 * (context) MUST exist until its end. Contexts: thread, on each CPU.
 */
typedef uintptr_t cpu_async_function(void *context);
#define cpu_async(cpu, function, context)                                      \
    cpu_async_at(PROMISE_HERE(#function), cpu, function, context)
struct promise *cpu_async_at(struct prof_trace_name *site, unsigned cpu,
                             cpu_async_function *function, void *context);

#ifdef __cplusplus
}
#endif

#endif
