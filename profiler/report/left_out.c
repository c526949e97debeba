/* SPDX-License-Identifier: Apache-2.0 */

/* Replaces call_tree.c if PROF_WITH_TREES is 0 (<prof/config.h>). Never called,
 * because prof_option() rejects the options; report.c refers to these
 * functions. */

#include "report/report.h"

#include <prof/config.h>

#if PROF_WITH_TREES
#error "this is compiled only without tree reports; see tools/build/sources.py"
#endif

void prof_report_call_tree(struct prof_text *out,
                           const struct prof_stats *stats)
{
    (void)out;
    (void)stats;
}

void prof_report_folded(struct prof_text *out, const struct prof_stats *stats)
{
    (void)out;
    (void)stats;
}

void prof_report_callers(struct prof_text *out, const char *name,
                         const struct prof_stats *stats)
{
    (void)out;
    (void)name;
    (void)stats;
}
