/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_REPORT_UNDER_SAMPLED_H
#define PROF_REPORT_UNDER_SAMPLED_H

#include <prof/prof.h>
#include <prof/text.h>

/* A line if the statistics of the event loop (<prof/loop.h>) show certainly
 * more work than the samples, all of which are in (stats). Nothing without
 * them. Contexts: thread. */
void prof_report_under_sampled(struct prof_text *out,
                               const struct prof_stats *stats);

#endif
