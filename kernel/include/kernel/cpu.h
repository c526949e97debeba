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
 * memcpy() and snprintf() without floating point. stdio, errno, tasks,
 * promises and the network are CPU 0's; cpu_resolve() completes a promise from
 * everywhere. An exception or panic() on any CPU ends the image, and so does
 * exit().
 *
 * An image for one CPU has these calls, too: it is CPU 0, and the only one.
 */

#include <kernel/promise.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
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
 * Completes a promise of CPU 0 by promise_resolve() there, a little later.
 * (message) is as above; its members need not be set. Contexts: any.
 */
struct cpu_resolve {
    struct cpu_message message; /* private */
    struct promise *promise;    /* private */
    uintptr_t value;            /* private */
};
void cpu_resolve(struct cpu_resolve *resolve, struct promise *promise,
                 uintptr_t value);

#ifdef __cplusplus
}
#endif

#endif
