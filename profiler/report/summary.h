/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SUMMARY_H
#define PROF_SUMMARY_H

/*
 * The lines above and below a table, shared by all reports.
 *
 * Contexts: thread. No allocation, no state.
 */

#include <prof/prof.h>
#include <prof/text.h>

/* The headline (samples, seconds, rate) and the names of the columns. Without
 * samples, a line that says why. */
void prof_summary_head(struct prof_text *out, const struct prof_stats *stats);

/* The accounts (every tick is in exactly one), the profiler's overhead, and
 * a line for each kind of loss. */
void prof_summary_close(struct prof_text *out, const struct prof_stats *stats);

/* (share), in 1/100 %, as "  12.34 %": four digits right-aligned, a point, two
 * digits. */
void prof_summary_share(struct prof_text *out, uint32_t share);

/* 100 % of all shares: cycles or ticks, by the option prof.weight. */
uint64_t prof_summary_whole(const struct prof_stats *stats);

#endif
