/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_ALARM_H
#define KERNEL_ALARM_H

/*
 * The timer that ends the loop's halts, of which there are three:
 *
 *   local APIC  where the CPU has one. It is set to the end of each halt, so
 *               there is no tick, and the PIT is free for the profiler.
 *   PIT         where not. It is set to the end of a halt while nothing
 *               samples. Otherwise it ticks at 100 Hz, beside which the
 *               profiler samples, and timers are late by up to one of its ticks
 *               or samples.
 *   tick        the PIT ticks at 100 Hz, as in a simple kernel. Timers are late
 *               by up to a tick.
 *
 * Times are those of clock_ns().
 */

#include <stdbool.h>
#include <stdint.h>

/* Takes the first timer of these that there is, for a TSC of (tsc_hz). False:
 * there is none. Contexts: boot, once, after clock_calibrate(), interrupts
 * off. */
bool alarm_start(uint64_t tsc_hz);

/* Takes another: "pit" or "tick"; "auto" leaves it. False: none of these, or
 * the machine has no PIT. Contexts: boot. */
bool alarm_option(const char *value);

/* Which one it is, for a line at boot. */
const char *alarm_name(void);

/* Whether the machine has a PIT. */
bool alarm_has_pit(void);

/* Whether the kernel needs the PIT's interrupt. */
bool alarm_uses_pit(void);

/*
 * The halt that follows ends at (due_ns), or sooner: then this is to be called
 * again. (now_ns) is the time. Contexts: thread, interrupts off.
 */
void alarm_set(uint64_t due_ns, uint64_t now_ns);

/* There will be no more halt: the CPU has work. Contexts: as above. */
void alarm_end(void);

/*
 * While the CPU has work it is also interrupted, every 10 ms, or no longer: for
 * those who look at what runs for long. Contexts: thread.
 */
void alarm_while_busy(bool wanted);

#endif
