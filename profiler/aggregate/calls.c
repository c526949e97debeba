/* SPDX-License-Identifier: Apache-2.0 */

#include "aggregate/calls.h"

#include "base/own_code.h"
#include "aggregate/functions.h"

#include <prof/config.h>

struct prof_table prof_calls;

/* Whether (function) is not on the path from (call) to the root, so that a call
 * of it there is not recursive. */
static bool is_outermost(uint32_t call, uint32_t function)
{
    for (; PROF_WITH_CALLERS && call != 0;
         call = prof_call_at(call)->record.parent)
        if (prof_call_at(call)->record.key == function)
            return false;
    return true;
}

/* Whether a call of (function) by (caller) is the profiler's: it is one of its
 * functions, or a named one called by those. Others without a name count as
 * unresolved. */
static bool is_own(uint32_t caller, uint32_t function)
{
    const struct prof_function *called = prof_function_at(function);

    return prof_code_is_own(called->record.key) ||
           (prof_function_is_named(called) && prof_call_is_own(caller));
}

/* The call found last: new stacks are often in the same one. */
static uint32_t last_caller, last_function, last_call;

void prof_calls_open(void)
{
    prof_calls = PROF_TABLE(struct prof_call);
    last_call = 0;
}

static uint32_t add_call(uint32_t *slot, uint32_t caller, uint32_t function)
{
    struct prof_call *call;
    uint32_t number =
        prof_table_add(&prof_calls, sizeof *call, slot, caller, function);

    if (number == 0)
        return 0;
    call = prof_call_at(number);
    if (is_outermost(caller, function))
        call->record.link |= PROF_CALL_OUTERMOST;
    if (is_own(caller, function))
        call->record.link |= PROF_CALL_OWN;
    if (PROF_WITH_TREES) {
        call->sibling = prof_call_at(caller)->child;
        prof_call_at(caller)->child = number;
    }
    return number;
}

uint32_t prof_call_of(uint32_t caller, uint32_t function)
{
    uint32_t *slot;

    if (last_call != 0 && caller == last_caller && function == last_function)
        return last_call;
    slot = prof_table_slot(&prof_calls, sizeof(struct prof_call), caller,
                           function);
    last_call = *slot != 0 ? *slot : add_call(slot, caller, function);
    last_caller = caller;
    last_function = function;
    return last_call;
}
