/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SOURCE_PIT_H
#define PROF_SOURCE_PIT_H

/* The source `pit`, beyond what every source does (source.h). */

#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

struct prof_pit_rate;

/* Takes over (config), at the rate of the options; false where it cannot work.
 * Contexts: boot, once. */
bool prof_source_pit_open(const struct prof_config *config);

/* The rates in force while this source runs; NULL while it does not. */
const struct prof_pit_rate *prof_source_pit_running(void);

/* The vector of its gate. */
uint8_t prof_source_pit_vector(void);

/* Cycles between two of the kernel's ticks by the best knowledge there is; 0
 * where every tick is the kernel's. Contexts: running. */
uint64_t prof_source_pit_pass_period(void);

/* It was seen in one-shot mode. Returns whether the kernel means it, the third
 * time within seconds: then the PIT is the kernel's, and only stopping is left.
 * Contexts: running. */
bool prof_source_pit_one_shot(void);

/* Whether it has been given up since the last start. */
bool prof_source_pit_given_up(void);

/* Programs the PIT to the rate in force again, and measures its period anew.
 * Contexts: running, vector drained. */
void prof_source_pit_program(void);

#endif
