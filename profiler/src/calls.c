/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the call stacks tell: as a tree, as folded stacks, and from a function
 * up to its callers. Nothing here needs memory: the hottest of several is
 * found by looking for the next below the last one, as in the table.
 */

#include "report.h"

#include "accounts.h"
#include "cpu.h"
#include "frames.h"
#include "share.h"
#include "stacks.h"
#include "state.h"

#include <prof/name.h>
#include <prof/symbols.h>

#define SHARE_MIN 100u /* 1 %, in 1/100 %: less is left out of the tree */

static const struct prof_node *call_at(uint32_t call)
{
    return &prof_state.calls.nodes[call];
}

static uint64_t whole_of(const struct prof_stats *stats)
{
    return prof_options()->weight == PROF_WEIGHT_TIME ? stats->elapsed_cycles
                                                      : stats->ticks;
}

/* Whether (a) comes before (b) among its siblings. */
static bool hotter(const struct prof_node *a, const struct prof_node *b)
{
    return a->total != b->total ? a->total > b->total : a->address < b->address;
}

/* The hottest child of (parent) that comes after (above), 0 where there is
 * none; (above) 0: the hottest of all. */
static uint32_t hottest_child(uint32_t parent, uint32_t above)
{
    uint32_t best = 0;

    for (uint32_t i = call_at(parent)->child; i != 0; i = call_at(i)->sibling) {
        if (above != 0 && !hotter(call_at(above), call_at(i)))
            continue;
        if (best == 0 || hotter(call_at(i), call_at(best)))
            best = i;
    }
    return best;
}

static void tree_row(struct prof_text *out, uint32_t call, uint32_t level,
                     uint64_t whole)
{
    const struct prof_node *node = call_at(call);

    prof_accounts_share(out, prof_share_of(node->total, whole));
    prof_text_decimal(out, node->samples, 10);
    prof_text_string(out, "  ");
    for (; level > 0; level--)
        prof_text_string(out, "  ");
    prof_report_name(out, node->address);
    prof_text_char(out, '\n');
}

static bool is_shown(uint32_t call, uint64_t whole)
{
    return call != 0 && call_at(call)->total != 0 &&
           prof_share_of(call_at(call)->total, whole) >= SHARE_MIN;
}

void prof_calls_tree(struct prof_text *out, const struct prof_stats *stats)
{
    uint64_t whole = whole_of(stats);
    uint32_t level = 0, parent = 0, call;

    prof_text_string(out, "--- calls, from 1 % on ---\n"
                          "   total      self  function\n");
    call = prof_state.calls.used > 1 ? hottest_child(0, 0) : 0;
    for (;;) {
        if (is_shown(call, whole)) {
            tree_row(out, call, level, whole);
            parent = call;
            level++;
            call = hottest_child(parent, 0);
        } else if (level > 0) {
            call = hottest_child(call_at(parent)->parent, parent);
            parent = call_at(parent)->parent;
            level--;
        } else {
            break;
        }
    }
    prof_accounts_close(out, stats);
}

/* The names from the outermost caller to (call). */
static void write_path(struct prof_text *out, uint32_t call)
{
    uint32_t path[PROF_DEPTH_MAX + 2];
    uint32_t count = 0;

    for (; call != 0 && count < PROF_DEPTH_MAX + 2;
         call = call_at(call)->parent)
        path[count++] = call;
    while (count > 0) {
        prof_report_name(out, call_at(path[--count])->address);
        if (count > 0)
            prof_text_char(out, ';');
    }
}

void prof_calls_folded(struct prof_text *out)
{
    prof_text_string(out, "--- folded stacks ---\n");
    for (uint32_t call = 1; call < prof_state.calls.used; call++) {
        if (call_at(call)->samples == 0)
            continue;
        write_path(out, call);
        prof_text_char(out, ' ');
        prof_text_decimal(out, call_at(call)->samples, 0);
        prof_text_char(out, '\n');
    }
    if (prof_state.counts.count[PROF_CLASS_IDLE] != 0) {
        prof_text_string(out, "[idle] ");
        prof_text_decimal(out, prof_state.counts.count[PROF_CLASS_IDLE], 0);
        prof_text_char(out, '\n');
    }
    prof_text_string(out, "--- end of folded stacks ---\n");
}

/* Whether (name) is the one of the function that begins at (address). */
static bool is_named(uintptr_t address, const char *name)
{
    struct prof_symbol symbol;

    return prof_symbol_find(address, &symbol) && prof_name_is(&symbol, name);
}

/* The function (name) among those that were seen, 0 where there is none. */
static uint32_t callable_named(const char *name)
{
    const struct prof_tree *callables = &prof_state.callables;

    for (uint32_t i = 1; i < callables->used; i++)
        if (callables->nodes[i].total != 0 &&
            is_named(callables->nodes[i].address, name))
            return i;
    return 0;
}

/* The function of (call), 0 for the root. */
static uint32_t callable_of(uint32_t call)
{
    return call_at(call)->link & PROF_CALL_FUNCTION;
}

/* Sums up, for each function, what (callable) costs when it calls it: in the
 * samples of the callables, which nothing else uses. */
static void sum_callers(uint32_t callable)
{
    struct prof_tree *callables = &prof_state.callables;
    const struct prof_tree *calls = &prof_state.calls;

    for (uint32_t i = 0; i < callables->used; i++)
        callables->nodes[i].samples = 0;
    for (uint32_t i = 1; i < calls->used; i++)
        if (calls->nodes[i].link == (callable | PROF_CALL_OUTERMOST))
            callables->nodes[callable_of(calls->nodes[i].parent)].samples +=
                calls->nodes[i].total;
}

/* The caller with the largest sum, which is set to 0 in the sums. */
static bool next_caller(uint32_t *caller, uint64_t *sum)
{
    struct prof_tree *callables = &prof_state.callables;

    *sum = 0;
    for (uint32_t i = 0; i < callables->used; i++)
        if (callables->nodes[i].samples > *sum) {
            *sum = callables->nodes[i].samples;
            *caller = i;
        }
    if (*sum != 0)
        callables->nodes[*caller].samples = 0;
    return *sum != 0;
}

void prof_calls_callers(struct prof_text *out, const char *name,
                        const struct prof_stats *stats)
{
    uint32_t callable = callable_named(name), caller = 0;
    struct prof_share_sum share = {0};
    uint64_t sum;

    prof_text_string(out, "--- callers of ");
    prof_text_string(out, name);
    if (callable == 0) {
        prof_text_string(out, ": not seen ---\n");
        return;
    }
    share.whole = prof_state.callables.nodes[callable].total;
    prof_text_string(out, ", itself ");
    prof_accounts_share(out, prof_share_of(share.whole, whole_of(stats)));
    prof_text_string(out, " in total ---\n");
    sum_callers(callable);
    while (next_caller(&caller, &sum)) {
        prof_accounts_share(out, prof_share_next(&share, sum));
        prof_text_string(out, "  ");
        if (caller == 0)
            prof_text_string(out, "nobody, or not known");
        else
            prof_report_name(out, prof_state.callables.nodes[caller].address);
        prof_text_char(out, '\n');
    }
    prof_text_string(out, "---\n");
}
