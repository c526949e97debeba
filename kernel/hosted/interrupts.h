/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_HOSTED_INTERRUPTS_H
#define KERNEL_HOSTED_INTERRUPTS_H

/*
 * The process's only interrupt: SIGPROF from a timer, at the sampling rate. It
 * calls the kernel's tick when that is due, and prof_sample().
 *
 * One that comes while interrupts are off is kept, as a PIC would, and taken
 * where they are turned on. Two become one.
 */

#include <stdbool.h>
#include <stdint.h>

/* Contexts: any. off() returns whether they were on. */
bool hosted_interrupts_off(void);
void hosted_interrupts_restore(bool on);
bool hosted_interrupts_are_on(void);

/* Starts the timer at (hz). Contexts: boot. */
void hosted_ticks_start(uint32_t hz);

/* Samples between these are idle, whatever the C library does there.
 * Contexts: thread. */
void hosted_idle_begin(void);
void hosted_idle_end(void);

/* Handlers for SIGPROF and, unless a sanitizer has its own, for faults; and
 * those for SIGINT and SIGTERM, which end the event loop. Contexts: boot. */
void hosted_signals_start(void);

#endif
