/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_BOUNDS_H
#define PROF_BOUNDS_H

/*
 * The bounds of stacks that nobody has set, and ends of stacks that are not
 * marked by a frame pointer of 0. Called by the walk where it would give up, so
 * that a walk in known bounds to a regular end costs nothing more.
 */

#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

/* Takes what it needs of (config). Contexts: boot. */
void prof_bounds_open(const struct prof_config *config);

/*
 * Sets the bounds to those of the stack that (sp) is in, if none were set and
 * it can be known what may be read. False: it cannot, and nothing changed.
 * Contexts: the walk.
 */
bool prof_bounds_find(uintptr_t sp);

/*
 * Whether a walk that has come to (place), the first word above what it has
 * read, and cannot go on to a frame at (next), is complete: (next) is what user
 * code has left in the register; or nothing above (place) points into the code,
 * so that there is no caller. That is so in a task's first frame, and in a boot
 * frame whose frame pointer was never cleared. Contexts: the walk.
 */
bool prof_bounds_is_end(uintptr_t place, uintptr_t next);

#endif
