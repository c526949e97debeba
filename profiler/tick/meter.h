/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_METER_H
#define PROF_METER_H

/*
 * Measures the sampling period by the TSC, and compares it with the
 * configuration. Uses queued samples before the drain reads them, so that the
 * time of the first samples is right, too. PROF_WITH_BUILTIN.
 */

#include "sample/cpu_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Receives the result, (period) cycles, a 24.8 fixed-point number. Returns a
 * function that prints it, or NULL. */
typedef void prof_meter_print(void);
typedef prof_meter_print *prof_meter_result(uint64_t period);

/*
 * Begins to measure. Calls (result) once; if (known), only if the period
 * differs from the clock's by half of it or more. If (wait), the drain waits
 * until the period is known, up to two seconds. Contexts: thread.
 */
void prof_meter_begin(bool known, bool wait, prof_meter_result *result);

/* Prints a result that was not printed yet, as drains in the interrupt cannot
 * print. Contexts: thread. */
void prof_meter_say(void);

/* Ends the measurement. Contexts: boot. */
void prof_meter_end(void);

/* Checks the samples of (cpu) from (entry) on. (now): no more samples will come
 * soon. Returns whether the drain must leave them in the vector. Contexts: the
 * drain. */
bool prof_meter_waits(const struct prof_cpu *cpu, struct prof_entry *entry,
                      bool now);

#endif
