/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_REPORT_H
#define PROF_REPORT_H

/*
 * The parts of prof_report(). All write to (out) and allocate nothing. (stats)
 * must be current: prof_stats() brings the sums up to date that they read.
 *
 * Contexts: thread, with no drain until they return.
 */

#include <prof/prof.h>
#include <prof/text.h>
#include <stdint.h>

/* Writes the name of the function that begins at (address), cut to prof.width
 * columns; without a name, the address in hexadecimal. */
void prof_report_name(struct prof_text *out, uintptr_t address);

/* The call tree, with shares of the whole profile. Calls below 1 %, and all
 * that they call, are left out. call_tree.c */
void prof_report_call_tree(struct prof_text *out,
                           const struct prof_stats *stats);

/* Folded stacks, as flamegraph.pl reads them: "outer;inner;leaf samples".
 * Idle samples are the stack "[idle]". call_tree.c */
void prof_report_folded(struct prof_text *out, const struct prof_stats *stats);

/* The callers of the function (name), mangled or not, with their shares of its
 * total; a line that says so if it was not seen. callers.c */
void prof_report_callers(struct prof_text *out, const char *name,
                         const struct prof_stats *stats);

#endif
