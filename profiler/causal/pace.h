/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PACE_H
#define PROF_PACE_H

/*
 * The rate of progress before experiments and after them, beside that at normal
 * speed in them: whether experiments are with the same program. While it is
 * watched nothing is held, the loop halts as ever, and visits of the first
 * point are counted; only points are patched.
 *
 * Contexts: thread.
 */

#include <prof/causal.h>
#include <stdbool.h>
#include <stdint.h>

struct prof_text;

enum prof_pace_when { PROF_PACE_BEFORE, PROF_PACE_AFTER };

/* Begins to watch. False: there is no memory, or experiments run. */
bool prof_pace_watch(enum prof_pace_when when, uint64_t tsc_hz);

/* Whether that has begun, and has not ended; and whether it has lasted. */
bool prof_pace_watches(void);
bool prof_pace_has_lasted(void);
void prof_pace_end(void);

/* While it is watched: the point is passed; (cycles) until now are no part of
 * the program. */
void prof_pace_visit(const struct prof_progress *point);
void prof_pace_leave_out(uint64_t cycles);

/* Adds what was found to the table. */
void prof_pace_write(struct prof_text *out);

#endif
