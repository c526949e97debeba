/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PACE_H
#define PROF_PACE_H

/*
 * Compares the rate of progress before and after experiments with the rate at
 * normal speed during experiments, to show whether experiments disturb the
 * program. While the rate is watched, no event is held, the loop halts as
 * usual, visits of the first point are counted, and only points are patched.
 *
 * Contexts: thread.
 */

#include <prof/rates.h>
#include <stdbool.h>
#include <stdint.h>

struct prof_text;

/* Begins to watch, before experiments or after them. Returns false if there is
 * no memory, or experiments run. */
bool prof_pace_watch(enum prof_rate_when when, uint64_t tsc_hz);

/* The first returns whether the rate is watched, the second whether that has
 * lasted long enough. The third ends it. */
bool prof_pace_watches(void);
bool prof_pace_has_lasted(void);
void prof_pace_end(void);

/* While the rate is watched: the first reports a visit of (point); the second
 * excludes the last (cycles), which are no part of the program. */
void prof_pace_visit(const struct prof_progress *point);
void prof_pace_leave_out(uint64_t cycles);

/* Returns the groups of visits before experiments or after them; NULL: the rate
 * was never watched. */
const struct prof_progress_sum *prof_pace_sums(enum prof_rate_when when);

/* Writes the comparison, and whether there are two rates, as a part of the
 * table. */
void prof_pace_write(struct prof_text *out);

#endif
