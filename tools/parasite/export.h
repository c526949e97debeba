/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_H
#define EXPORT_H

/* Formats of other tools. Each writes what the view chose, and says whether
 * all of it was written. */

#include "view.h"

#include <stdio.h>

/* Folded stacks: "outermost;...;innermost WEIGHT" for each stack, weight being
 * samples, or nanoseconds where time is the weight. */
bool export_folded(struct view *view, FILE *out);

/* pprof's profile.proto, gzipped: samples and nanoseconds. */
bool export_pprof(struct view *view, FILE *out);

#endif
