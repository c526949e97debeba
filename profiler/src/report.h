/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_REPORT_H
#define PROF_REPORT_H

#include <prof/prof.h>
#include <prof/text.h>
#include <stdint.h>

/* The name of the function that begins at (key), or the address where it has
 * none. report.c. Contexts: thread. */
void prof_report_name(struct prof_text *out, uintptr_t key);

/*
 * Reports by call, calls.c. All of them after prof_stacks_sum(), which writes
 * what they read.
 */

/* Who calls whom, with shares of all there is; calls of less than 1 % and what
 * is below them are left out. */
void prof_calls_tree(struct prof_text *out, const struct prof_stats *stats);

/* Folded stacks, as flamegraph.pl reads them: "outer;inner;leaf samples". */
void prof_calls_folded(struct prof_text *out);

/* Who calls the function (name), mangled or not, and with what share. */
void prof_calls_callers(struct prof_text *out, const char *name,
                        const struct prof_stats *stats);

#endif
