/* SPDX-License-Identifier: Apache-2.0 */

/* From a chain of addresses to its node, and the sums; see stacks.h. */

#include "stacks.h"

#include "state.h"
#include "stream.h"

#include <prof/symbols.h>

/* The chain's caller number (at), 0 being the outermost, as a word of the frame
 * vector. */
static uint32_t word_at(const struct prof_chain *chain, uint32_t at)
{
    if (at < chain->count)
        return chain->words[chain->count - 1 - at];
    return (uint32_t)(chain->caller - prof_hot.text_base);
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

/* How many of (chain)'s (callers), from the outermost on, are those of last. */
static uint32_t common_with_last(const struct prof_chain *chain,
                                 uint32_t callers)
{
    const struct prof_last *last = &prof_state.last;
    uint32_t most = callers < last->length ? callers : last->length;
    uint32_t frames = chain->count < most ? chain->count : most;
    const uint32_t *words = chain->words + chain->count;
    uint32_t at = 0;

    while (at < frames && last->words[at] == *--words)
        at++;
    if (at == chain->count && at < most &&
        last->words[at] == word_at(chain, at))
        at++;
    return at;
}

/* Follows the tree down from the first (at) callers, which are those of last,
 * and makes last what it finds. */
static void follow(const struct prof_chain *chain, uint32_t callers,
                   uint32_t at)
{
    struct prof_last *last = &prof_state.last;
    uint32_t node = at > 0 ? last->nodes[at - 1] : 0;

    last->leaf = 0;
    for (; at < callers; at++) {
        last->words[at] = word_at(chain, at);
        node = prof_tree_find(&prof_state.stacks, node,
                              prof_hot.text_base + last->words[at]);
        if (node == 0)
            break;
        last->nodes[at] = node;
    }
    last->length = at;
    if (at == callers) {
        last->leaf = prof_tree_find(&prof_state.stacks, node, chain->pc);
        last->pc = chain->pc;
    }
}

/* Makes what follow() has not found. Returns the leaf, 0 without memory. */
static uint32_t make(const struct prof_chain *chain, uint32_t callers)
{
    uint32_t at = prof_state.last.length;
    uint32_t node = at > 0 ? prof_state.last.nodes[at - 1] : 0;
    uint32_t more = callers + 1 - at;

    if (!prof_tree_reserve(&prof_state.callables, more) ||
        !prof_tree_reserve(&prof_state.calls, more) ||
        !prof_tree_reserve(&prof_state.stacks, more))
        return 0;
    for (; at < callers; at++)
        node = add(node, prof_hot.text_base + word_at(chain, at), true);
    return add(node, chain->pc, false);
}

uint32_t prof_stacks_node(const struct prof_chain *chain)
{
    const struct prof_last *last = &prof_state.last;
    uint32_t callers = chain->count + (chain->caller != 0);
    uint32_t common = common_with_last(chain, callers);

    if (common == callers && common == last->length && last->leaf != 0 &&
        last->pc == chain->pc)
        return last->leaf;
    follow(chain, callers, common);
    return last->leaf != 0 ? last->leaf : make(chain, callers);
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
