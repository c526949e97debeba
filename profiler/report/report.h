/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_REPORT_H
#define PROF_REPORT_H

/*
 * The parts of prof_report(). All write to (out), allocate nothing and have no
 * state. (stats) MUST be current: prof_stats() updates the sums that they read.
 *
 * Contexts: thread, with no drain until they return.
 */

#include <prof/prof.h>
#include <prof/text.h>
#include <stdint.h>

/* Writes the name of the function that begins at (address), cut to prof.width
 * columns; without a name, the address in hexadecimal. */
void prof_report_name(struct prof_text *out, uintptr_t address);

/* Writes the call tree, with shares of the whole profile, without calls below
 * 1 % and their callees. call_tree.c */
void prof_report_call_tree(struct prof_text *out,
                           const struct prof_stats *stats);

/* Writes folded stacks, as flamegraph.pl reads them: "outer;inner;leaf
 * samples". Idle samples are the stack "[idle]". call_tree.c */
void prof_report_folded(struct prof_text *out, const struct prof_stats *stats);

/* Writes the callers of the function (name), mangled or demangled, with their
 * shares of its total; or a line if it was not sampled. call_tree.c */
void prof_report_callers(struct prof_text *out, const char *name,
                         const struct prof_stats *stats);

/* ---- the lines above and below a table, shared by all reports: summary.c */

/* Writes the headline (samples, seconds, rate) and the column names; or, if
 * there are no samples, a line with the reason. */
void prof_summary_head(struct prof_text *out, const struct prof_stats *stats);

/* Writes the accounts (every tick is in exactly one), the profiler's overhead,
 * and a line for each kind of loss. */
void prof_summary_close(struct prof_text *out, const struct prof_stats *stats);

/* Writes (share), in 1/100 %, as "  12.34 %": the integer part right-aligned in
 * four columns, a point, two digits. */
void prof_summary_share(struct prof_text *out, uint32_t share);

/* Returns the whole of which shares are computed: cycles or ticks, by the
 * option prof.weight. */
uint64_t prof_summary_whole(const struct prof_stats *stats);

/* Writes a line if the statistics of the event loop (<prof/loop.h>) show
 * significantly more work than the samples; nothing without these statistics.
 * under_sampled.c */
void prof_report_under_sampled(struct prof_text *out,
                               const struct prof_stats *stats);

#endif
