/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_CLOCKS_H
#define TIMELINE_CLOCKS_H

/* One clock for all traces of a timeline. */

#include "timeline/timeline.h"

/*
 * Sets the shift of each trace, the least of which is 0, and what is known of
 * it: by packets, directly or by way of another trace; else by UTC; else as the
 * clocks are. Where a clock runs at another rate, the times of its trace are
 * changed. What the user says is added.
 */
void clocks_align(struct timeline *timeline);

/* "-1.9657501 s, to 0.3 ms, by 168 packets": writes to (text), which has room
 * for CLOCKS_TEXT_MAX, how (trace) was aligned, and returns it. */
#define CLOCKS_TEXT_MAX 160u
const char *clocks_text(const struct timeline_trace *trace, char *text);

#endif
