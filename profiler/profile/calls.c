/* SPDX-License-Identifier: Apache-2.0 */

/* The call tree; see calls.h. */

#include "profile/calls.h"

struct prof_table prof_calls;

/* Whether (function) is not on the path from (call) to the root, so that a call
 * of it there is not recursive. */
static bool is_outermost(uint32_t call, uint32_t function)
{
    for (; call != 0; call = prof_call_at(call)->record.parent)
        if (prof_call_at(call)->record.key == function)
            return false;
    return true;
}

uint32_t prof_call_of(uint32_t caller, uint32_t function)
{
    uint32_t number = prof_table_find(&prof_calls, caller, function);
    struct prof_call *call;

    if (number != 0 || !prof_table_reserve(&prof_calls))
        return number;
    number = prof_table_add(&prof_calls, caller, function);
    call = prof_call_at(number);
    call->record.link = is_outermost(caller, function);
    call->sibling = prof_call_at(caller)->child;
    prof_call_at(caller)->child = number;
    return number;
}
