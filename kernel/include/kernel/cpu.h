/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CPU_H
#define KERNEL_CPU_H

/*
 * Several CPUs (make CPUS=4): each has an event loop of its own (loop.h), with
 * its own timers and sources, and they share no work. service_main() and all
 * devices are on CPU 0; the others wait for messages.
 *
 * What a CPU other than 0 may use: loop.h, clock.h, console_line(), malloc(),
 * free(), and those functions of the C library that have no state, such as
 * memcpy() and snprintf() without floating point; task.h, promise.h and sync.h
 * for tasks, promises and mutexes of its own. stdio, errno, disk and network
 * are CPU 0's. An exception or panic() on any CPU ends the image, and so does
 * exit().
 *
 * A promise, and what waits for it, is of the CPU that has made it, and the
 * others MUST NOT use it: cpu_resolve() completes it from everywhere, and
 * cpu_async() makes one of what another CPU is to return.
 *
 * An image for one CPU has these calls, too: it is CPU 0, and the only one.
 */

#include <kernel/promise.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most that an image can have: 1, unless it is built for several. */
#ifdef ARCH_CPUS_MAX
#define CPU_MAX ARCH_CPUS_MAX
#else
#define CPU_MAX 1
#endif

/* How many CPUs run: those of the machine, less what did not start or is beyond
 * the option cpus=N. Their numbers are below. Contexts: any, after boot. */
unsigned cpu_count(void);

/* The one that this runs on. Contexts: any. */
unsigned cpu_number(void);

typedef void cpu_function(void *context);

/* Owned by the caller; MUST exist until the function is called, and is its own
 * again then. Initially all zero. */
struct cpu_message {
    cpu_function *function;
    void *context;
    struct cpu_message *next; /* private */
    uint32_t trace;           /* private: its object to the recorder */
    bool own;                 /* the profiler's own: it is not recorded */
};

/*
 * Calls message->function(message->context) in the event loop of (cpu), below
 * cpu_count(), which may be the calling one. Messages from one CPU to another
 * arrive in the order in which they were sent. No lock, no memory. A message
 * that is under way MUST NOT be sent again. Contexts: any.
 */
void cpu_send(unsigned cpu, struct cpu_message *message);

/* The same with a message of its own. False: there is no memory for it.
 * Contexts: thread. */
bool cpu_call(unsigned cpu, cpu_function *function, void *context);

/*
 * Completes a promise by promise_resolve() on the CPU that has made it, a
 * little later. (resolve) is as a message above; its members need not be set.
 * Contexts: any, on each CPU.
 */
struct cpu_resolve {
    struct cpu_message message; /* private */
    struct promise *promise;    /* private */
    uintptr_t value;            /* private */
};
void cpu_resolve(struct cpu_resolve *resolve, struct promise *promise,
                 uintptr_t value);

/*
 * Calls (function) with (context) in the event loop of (cpu), and resolves the
 * promise that it returns with its value. NULL: no memory, and it is not
 * called. Whoever frees the promise does not stop the call: (context) MUST
 * exist until its end. Contexts: thread, on each CPU.
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
