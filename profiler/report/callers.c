/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The callers of one function (prof.callers), with their shares of its total.
 * The sums are kept in the function table, so that nothing is allocated.
 */

#include "aggregate/calls.h"
#include "aggregate/functions.h"
#include "aggregate/sums.h"
#include "report/report.h"
#include "report/share.h"
#include "report/summary.h"

#include <prof/name.h>
#include <prof/symbols.h>

/* Whether the function that begins at (address) has this name, mangled or
 * not. */
static bool is_named(uintptr_t address, const char *name)
{
    struct prof_symbol symbol;

    return prof_symbol_find(address, &symbol) && prof_name_is(&symbol, name);
}

/* Number of the function (name), 0 if it has no samples, not even in functions
 * that it calls. */
static uint32_t function_named(const char *name)
{
    for (uint32_t i = 1; i < prof_functions.used; i++)
        if (prof_function_at(i)->total != 0 &&
            is_named(prof_function_at(i)->record.key, name))
            return i;
    return 0;
}

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
static void write_callers(struct prof_text *out, uint32_t callee)
{
    struct prof_share_sum share = {.whole = prof_function_at(callee)->total};
    uint32_t caller = 0;
    uint64_t sum;

    sum_callers(callee);
    while (next_caller(&caller, &sum)) {
        prof_summary_share(out, prof_share_next(&share, sum));
        prof_text_string(out, "  ");
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
    uint32_t callee;

    (void)prof_sums();
    callee = function_named(name);
    prof_text_string(out, "--- callers of ");
    prof_text_string(out, name);
    if (callee == 0) {
        prof_text_string(out, ": not sampled ---\n");
        return;
    }
    prof_text_string(out, ", self ");
    prof_summary_share(out, prof_share_of(prof_function_at(callee)->total,
                                          prof_summary_whole(stats)));
    prof_text_string(out, " total ---\n");
    write_callers(out, callee);
    prof_text_string(out, "---\n");
}
