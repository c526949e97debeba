/* SPDX-License-Identifier: Apache-2.0 */

/* From a chain of addresses to its node, and the sums; see stacks.h. */

#include "stacks.h"

#include "state.h"
#include "stream.h"

#include <prof/symbols.h>

/* The chain's address number (at), 0 being the outermost caller. */
static uintptr_t address_at(const struct prof_chain *chain, uint32_t at)
{
    if (at < chain->count)
        return prof_hot.text_base + chain->words[chain->count - 1 - at];
    if (at == chain->count && chain->caller != 0)
        return chain->caller;
    return chain->pc;
}

static uint32_t length_of(const struct prof_chain *chain)
{
    return chain->count + (chain->caller != 0) + 1;
}

/* The function that (address) is in. A call returns behind itself, and so
 * perhaps behind the end of its function. */
static uintptr_t function_of(uintptr_t address, bool returned)
{
    struct prof_symbol symbol;

    if (prof_symbol_find(address - returned, &symbol))
        return symbol.start;
    return address;
}

/* Whether (callable) is called somewhere from (call) up to the root. */
static bool is_above(uint32_t call, uint32_t callable)
{
    const struct prof_node *calls = prof_state.calls.nodes;

    for (; call != 0; call = calls[call].parent)
        if ((calls[call].link & PROF_CALL_FUNCTION) == callable)
            return true;
    return false;
}

/* The call of (function) by (parent); there is room for all that is new. */
static uint32_t call_of(uint32_t parent, uintptr_t function)
{
    uint32_t call = prof_tree_find(&prof_state.calls, parent, function);
    uint32_t callable;

    if (call != 0)
        return call;
    callable = prof_tree_find(&prof_state.callables, 0, function);
    if (callable == 0)
        callable = prof_tree_add(&prof_state.callables, 0, function);
    call = prof_tree_add(&prof_state.calls, parent, function);
    prof_state.calls.nodes[call].link =
        callable | (is_above(parent, callable) ? 0 : PROF_CALL_OUTERMOST);
    return call;
}

static uint32_t add(uint32_t parent, uintptr_t address, bool returned)
{
    uint32_t above = prof_state.stacks.nodes[parent].link;
    uint32_t node = prof_tree_add(&prof_state.stacks, parent, address);

    prof_state.stacks.nodes[node].link =
        call_of(above, function_of(address, returned));
    return node;
}

/*
 * prof_state.last is the stack looked for last. Most samples share most of
 * their callers with the one before, and comparing costs less than looking up.
 * Nodes are for good, so what stands there is never wrong.
 */

/* How many of (chain)'s addresses, from the outermost on, are those of last. */
static uint32_t common_with_last(const struct prof_chain *chain,
                                 uint32_t length)
{
    const struct prof_node *nodes = prof_state.stacks.nodes;
    const struct prof_last *last = &prof_state.last;
    uint32_t at = 0;

    while (at < length && at < last->length &&
           nodes[last->nodes[at]].address == address_at(chain, at))
        at++;
    return at;
}

uint32_t prof_stacks_node(const struct prof_chain *chain)
{
    uint32_t length = length_of(chain);
    uint32_t at = common_with_last(chain, length);
    struct prof_last *last = &prof_state.last;
    uint32_t node = at > 0 ? last->nodes[at - 1] : 0;

    for (last->length = at; at < length; at++) {
        uint32_t next =
            prof_tree_find(&prof_state.stacks, node, address_at(chain, at));

        if (next == 0)
            break;
        node = next;
        last->nodes[last->length++] = node;
    }
    if (at == length)
        return node;
    if (!prof_tree_reserve(&prof_state.callables, length - at) ||
        !prof_tree_reserve(&prof_state.calls, length - at) ||
        !prof_tree_reserve(&prof_state.stacks, length - at))
        return 0;
    for (; at < length; at++)
        node = add(node, address_at(chain, at), at + 1 < length);
    return node;
}

bool prof_stacks_tell(uint32_t node, struct prof_stream_node *found)
{
    struct prof_node *known = &prof_state.stacks.nodes[node];

    if (node == 0 || node >= prof_state.stacks.used)
        return false;
    *found =
        (struct prof_stream_node){known->parent, known->address, &known->told};
    return true;
}

void prof_stacks_credit(uint32_t node, uint64_t samples, uint64_t cycles,
                        uint64_t tsc)
{
    prof_tree_credit(&prof_state.stacks, node, samples, cycles, tsc);
    prof_tree_credit(&prof_state.calls, prof_state.stacks.nodes[node].link,
                     samples, cycles, tsc);
}

/* A function that calls itself is counted where it was called first. */
void prof_stacks_sum(void)
{
    const struct prof_tree *calls = &prof_state.calls;
    struct prof_node *callables = prof_state.callables.nodes;

    prof_tree_sum(&prof_state.calls,
                  prof_options()->weight == PROF_WEIGHT_TIME);
    for (uint32_t i = 0; i < prof_state.callables.used; i++)
        callables[i].total = 0;
    for (uint32_t i = 1; i < calls->used; i++)
        if ((calls->nodes[i].link & PROF_CALL_OUTERMOST) != 0)
            callables[calls->nodes[i].link & PROF_CALL_FUNCTION].total +=
                calls->nodes[i].total;
}

uint64_t prof_stacks_total(uintptr_t address)
{
    uint32_t callable = prof_tree_find(&prof_state.callables, 0, address);

    return callable == 0 ? 0 : prof_state.callables.nodes[callable].total;
}
