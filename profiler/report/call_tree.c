/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The call stacks by function, as a tree and as folded stacks.
 *
 * Nothing is allocated, because a report may be needed when memory is short.
 * Siblings are therefore not sorted: each next one is found by a search for the
 * hottest that comes after the last. That is quadratic in the number of
 * siblings, which is small in practice.
 */

#include "report/report.h"

#include "aggregate/calls.h"
#include "aggregate/functions.h"
#include "aggregate/stacks.h"
#include "aggregate/sums.h"
#include "report/share.h"
#include "report/summary.h"

#define SHARE_MIN 100u /* 1 %, in 1/100 %: less is left out of the tree */

/* The address of the function that was called. */
static uintptr_t address_of(const struct prof_call *call)
{
    return prof_function_at((uint32_t)call->record.key)->record.key;
}

/* Whether (a) comes before (b) among its siblings. */
static bool hotter(const struct prof_call *a, const struct prof_call *b)
{
    return a->total != b->total ? a->total > b->total
                                : address_of(a) < address_of(b);
}

/* The child of (parent) that follows (above) in order of heat; with (above) 0
 * the hottest of all. 0 if there is none. */
static uint32_t hottest_child(uint32_t parent, uint32_t above)
{
    uint32_t best = 0;

    for (uint32_t i = prof_call_at(parent)->child; i != 0;
         i = prof_call_at(i)->sibling) {
        if (above != 0 && !hotter(prof_call_at(above), prof_call_at(i)))
            continue;
        if (best == 0 || hotter(prof_call_at(i), prof_call_at(best)))
            best = i;
    }
    return best;
}

/* One line: share of the whole, samples that ended in this call, and the name,
 * indented by (level). */
static void tree_row(struct prof_text *out, const struct prof_call *call,
                     uint32_t level, uint64_t whole)
{
    prof_summary_share(out, prof_share_of(call->total, whole));
    prof_text_decimal(out, call->self.samples, 10);
    prof_text_string(out, "  ");
    for (; level > 0; level--)
        prof_text_string(out, "  ");
    prof_report_name(out, address_of(call));
    prof_text_char(out, '\n');
}

/* Whether (call), which may be 0, has a line of its own. */
static bool is_shown(uint32_t call, uint64_t whole)
{
    return call != 0 && prof_call_at(call)->total != 0 &&
           prof_share_of(prof_call_at(call)->total, whole) >= SHARE_MIN;
}

/* Depth first and without recursion: the records hold the parents, so no stack
 * is needed to return to them. */
void prof_report_call_tree(struct prof_text *out,
                           const struct prof_stats *stats)
{
    uint64_t whole = prof_summary_whole(stats);
    uint32_t level = 0, parent = 0, call;

    prof_text_string(out, "--- call tree, calls of at least 1 % ---\n"
                          "   total      self  function\n");
    call = prof_calls.used > 1 ? hottest_child(0, 0) : 0;
    for (;;) {
        if (is_shown(call, whole)) {
            tree_row(out, prof_call_at(call), level, whole);
            parent = call;
            level++;
            call = hottest_child(parent, 0);
        } else if (level > 0) {
            call = hottest_child(prof_call_at(parent)->record.parent, parent);
            parent = prof_call_at(parent)->record.parent;
            level--;
        } else {
            break;
        }
    }
    prof_summary_close(out, stats);
}

/* The names from the outermost caller to (call), separated by semicolons. */
static void write_path(struct prof_text *out, uint32_t call)
{
    uint32_t path[PROF_STACK_MAX];
    uint32_t count = 0;

    for (; call != 0 && count < PROF_STACK_MAX;
         call = prof_call_at(call)->record.parent)
        path[count++] = call;
    while (count > 0) {
        prof_report_name(out, address_of(prof_call_at(path[--count])));
        if (count > 0)
            prof_text_char(out, ';');
    }
}

/* Samples that are in no call. */
static void folded_account(struct prof_text *out, const char *what,
                           uint64_t samples)
{
    if (samples == 0)
        return;
    prof_text_string(out, what);
    prof_text_decimal(out, samples, 0);
    prof_text_char(out, '\n');
}

void prof_report_folded(struct prof_text *out, const struct prof_stats *stats)
{
    prof_text_string(out, "--- folded stacks ---\n");
    for (uint32_t call = 1; call < prof_calls.used; call++) {
        if (prof_call_at(call)->self.samples == 0)
            continue;
        write_path(out, call);
        prof_text_char(out, ' ');
        prof_text_decimal(out, prof_call_at(call)->self.samples, 0);
        prof_text_char(out, '\n');
    }
    folded_account(out, "[idle] ", stats->idle);
    folded_account(out, "[profiler] ", stats->own);
    prof_text_string(out, "--- end of folded stacks ---\n");
}
