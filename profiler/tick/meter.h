/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_METER_H
#define PROF_METER_H

/*
 * Whether ticks come as often as the configuration says, by the time stamp
 * counter. It looks at queued samples, before the drain takes them: so their
 * time is right from the first one on. PROF_WITH_BUILTIN.
 */

#include "sample/cpu_state.h"

#include <stdbool.h>
#include <stdint.h>

/* What is done with the result, (period) cycles as a 24.8 number. Returns what
 * prints it, or NULL. */
typedef void prof_meter_print(void);
typedef prof_meter_print *prof_meter_result(uint64_t period);

/*
 * Begins to measure. (result) is called once: if (known), only if the period is
 * not that of the clock, by half of it and more. (wait): the drain waits until
 * the period is known, two seconds at most. Contexts: thread.
 */
void prof_meter_begin(bool known, bool wait, prof_meter_result *result);

/* Prints a result that is not yet printed: drains in the interrupt may get it,
 * but not print. Contexts: thread. */
void prof_meter_say(void);

/* Nothing is to be measured. Contexts: boot. */
void prof_meter_end(void);

/* Looks at the samples of (cpu) from (entry) on; (now): no more will come
 * soon. Returns whether they are to stay where they are. Contexts: the
 * drain. */
bool prof_meter_waits(const struct prof_cpu *cpu, struct prof_entry *entry,
                      bool now);

#endif
