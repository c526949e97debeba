/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLAME_SIDES_PARTS_H
#define FLAME_SIDES_PARTS_H

/* What the sources of sides.h share. */

#include "flame/sides.h"

#include <prof/format.h>

/* Whether (event) is one sample, which the vector held. */
bool sides_is_sample(const struct event *event);

/* The number of the first of (count) sorted numbers that is beyond (limit). */
size_t sides_beyond(const double *numbers, size_t count, double limit);

/* (clocks) as a whole number: the nearest one if they are out of range, which
 * extrapolated times of a damaged trace can be. */
uint64_t sides_clocks(double clocks);

/* All of (view) once more. */
void sides_read(struct view *view, struct model_watch watch);

/* Finds what both have in common: flame->sides.align, and the span of both. */
void sides_find_clock(struct flame *flame, struct view *inside,
                      struct view *outside);

#endif
