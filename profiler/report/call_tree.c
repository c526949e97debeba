/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The call stacks by function, as a tree and as folded stacks; and the callers
 * of one function (prof.callers), with their shares of its total.
 *
 * Nothing is allocated, because a report may be needed when memory is short.
 * Siblings are therefore not sorted: each next one is found by a search for the
 * hottest that comes after the last. That is quadratic in the number of
 * siblings, which is small in practice. Sums by caller are kept in the function
 * table.
 */

#include "report/report.h"

#include "aggregate/calls.h"
#include "aggregate/functions.h"
#include "aggregate/stacks.h"
#include "aggregate/sums.h"
#include "report/share.h"

#define SHARE_MIN 100u /* 1 %, in 1/100 %: less is left out of the tree */

/* The address of the function that was called. */
static uintptr_t address_of(const struct prof_call *call)
{
    return prof_function_at((uint32_t)call->record.key)->record.key;
}

/* Not inlined: both calls would be, with all that address_of() reads. */
static __attribute__((noinline)) bool hotter(const struct prof_call *a,
                                             const struct prof_call *b)
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
static void put_tree_row(struct prof_text *out, const struct prof_call *call,
                         uint32_t level, uint64_t whole)
{
    prof_text_format(out, "%4.2u %%%10ju  ", prof_share_of(call->total, whole),
                     call->self.samples);
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
            put_tree_row(out, prof_call_at(call), level, whole);
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
static void put_path(struct prof_text *out, uint32_t call)
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
static void put_folded_account(struct prof_text *out, const char *what,
                               uint64_t samples)
{
    if (samples != 0)
        prof_text_format(out, "%s %ju\n", what, samples);
}

void prof_report_folded(struct prof_text *out, const struct prof_stats *stats)
{
    prof_text_string(out, "--- folded stacks ---\n");
    for (uint32_t call = 1; call < prof_calls.used; call++) {
        if (prof_call_at(call)->self.samples == 0)
            continue;
        put_path(out, call);
        prof_text_format(out, " %ju\n", prof_call_at(call)->self.samples);
    }
    put_folded_account(out, "[idle]", stats->idle);
    put_folded_account(out, "[profiler]", stats->own);
    prof_text_string(out, "--- end of folded stacks ---\n");
}

/* ---- the callers of a function */

/* Sums up for each function the weight of its calls of (callee). Number 0 takes
 * calls without a known caller. Recursive calls are part of the outermost one
 * and are not counted again. */
static void sum_callers(uint32_t callee)
{
    for (uint32_t i = 0; i < prof_functions.used; i++)
        prof_function_at(i)->by_caller = 0;
    for (uint32_t i = 1; i < prof_calls.used; i++) {
        const struct prof_call *call = prof_call_at(i);
        const struct prof_call *caller = prof_call_at(call->record.parent);

        if (call->record.key == callee &&
            (call->record.link & PROF_CALL_OUTERMOST) != 0)
            prof_function_at((uint32_t)caller->record.key)->by_caller +=
                call->total;
    }
}

/* Finds the caller with the largest sum and sets that sum to 0. False: all sums
 * are 0. */
static bool next_caller(uint32_t *caller, uint64_t *sum)
{
    *sum = 0;
    for (uint32_t i = 0; i < prof_functions.used; i++)
        if (prof_function_at(i)->by_caller > *sum) {
            *sum = prof_function_at(i)->by_caller;
            *caller = i;
        }
    if (*sum != 0)
        prof_function_at(*caller)->by_caller = 0;
    return *sum != 0;
}

/* One line for each caller, the hottest first; the shares add up to 100 %. */
static void put_callers(struct prof_text *out, uint32_t callee)
{
    struct prof_share_sum share = {.whole = prof_function_at(callee)->total};
    uint32_t caller = 0;
    uint64_t sum;

    sum_callers(callee);
    while (next_caller(&caller, &sum)) {
        prof_text_format(out, "%4.2u %%  ", prof_share_next(&share, sum));
        if (caller == 0)
            prof_text_string(out, "no caller, or unknown");
        else
            prof_report_name(out, prof_function_at(caller)->record.key);
        prof_text_char(out, '\n');
    }
}

void prof_report_callers(struct prof_text *out, const char *name,
                         const struct prof_stats *stats)
{
    uint32_t callee = 0;

    (void)prof_sums();
    do /* until one has samples, at least in functions that it calls */
        callee = prof_function_named(name, callee);
    while (callee != 0 && prof_function_at(callee)->total == 0);
    prof_text_format(out, "--- callers of %s", name);
    if (callee == 0) {
        prof_text_string(out, ": not sampled ---\n");
        return;
    }
    prof_text_format(out, ", self %4.2u %% total ---\n",
                     prof_share_of(prof_function_at(callee)->total,
                                   prof_summary_whole(stats)));
    put_callers(out, callee);
    prof_text_string(out, "---\n");
}
