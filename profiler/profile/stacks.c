/* SPDX-License-Identifier: Apache-2.0 */

/* The stack tree: finds and creates stacks; see stacks.h. */

#include "profile/stacks.h"

#include "profile/addresses.h"
#include "profile/calls.h"
#include "profile/functions.h"
#include "profile/image.h"
#include "stream/stream.h"

struct prof_table prof_stacks;

/*
 * The stack that was looked up last. Most samples share most of their callers
 * with the one before, and comparing words is cheaper than hash lookups. Stacks
 * are never removed, so this cache is always valid.
 */
static struct {
    uint32_t words[PROF_DEPTH_MAX + 1]; /* its callers, outermost first */
    uint32_t length;                    /* of these */
    uint32_t caller;                    /* stack of the innermost of them */
    uint32_t leaf;                      /* stack of pc below it, 0 = none */
    uintptr_t pc;
} last;

void prof_stacks_open(void)
{
    prof_addresses = PROF_TABLE(struct prof_address);
    prof_functions = PROF_TABLE(struct prof_function);
    prof_calls = PROF_TABLE(struct prof_call);
    prof_stacks = PROF_TABLE(struct prof_stack);
    last.length = last.caller = last.leaf = 0;
}

/* The chain's caller number (at), 0 being the outermost, as a word of the frame
 * vector. */
static uint32_t word_at(const struct prof_chain *chain, uint32_t at)
{
    if (at < chain->count)
        return chain->words[chain->count - 1 - at];
    return (uint32_t)(chain->caller - prof_image.text_base);
}

/* How many of the outermost (callers) of (chain) equal those of last. */
static uint32_t common_with_last(const struct prof_chain *chain,
                                 uint32_t callers)
{
    uint32_t most = callers < last.length ? callers : last.length;
    uint32_t frames = chain->count < most ? chain->count : most;
    const uint32_t *words = chain->words + chain->count;
    uint32_t at = 0;

    while (at < frames && last.words[at] == *--words)
        at++;
    if (at == chain->count && at < most && last.words[at] == word_at(chain, at))
        at++;
    return at;
}

static uint32_t find(uint32_t parent, uintptr_t address)
{
    return *prof_table_slot(&prof_stacks, sizeof(struct prof_stack), parent,
                            address);
}

/* Shortens last to its outermost (at) callers. */
static void cut_last(uint32_t at)
{
    const struct prof_stack *stacks = prof_stacks.records;
    uint32_t caller = last.caller;

    for (uint32_t cut = last.length - at; cut > 0; cut--)
        caller = stacks[caller].record.parent;
    last.length = at;
    last.caller = caller;
    last.leaf = 0;
}

/* Descends the tree along (chain) from the callers in last, and updates last to
 * the part of (chain) that exists. */
static void follow(const struct prof_chain *chain, uint32_t callers)
{
    uint32_t at = last.length, stack = last.caller, next = 0;

    if (prof_stacks.capacity == 0)
        return;
    for (; at < callers; at++, stack = next) {
        last.words[at] = word_at(chain, at);
        next = find(stack, prof_image.text_base + last.words[at]);
        if (next == 0)
            break;
    }
    last.length = at;
    last.caller = stack;
    if (at < callers)
        return;
    last.leaf = find(stack, chain->pc);
    last.pc = chain->pc;
}

/* Adds the stack of (address), in (function), below (parent). (function) is 0
 * if there was no memory for it. Returns 0 without memory. */
static uint32_t add(uint32_t parent, uintptr_t address, uint32_t function)
{
    uint32_t caller = parent != 0 ? prof_stack_at(parent)->record.link : 0;
    uint32_t call = function != 0 ? prof_call_of(caller, function) : 0;
    uint32_t number;

    if (call == 0 || !prof_table_reserve(&prof_stacks))
        return 0;
    number = prof_table_add(&prof_stacks, parent, address);
    prof_stack_at(number)->record.link = call;
    return number;
}

/* Adds the part of (chain) that follow() did not find. Returns the leaf; 0
 * without memory, and the callers added so far remain. */
static uint32_t make(const struct prof_chain *chain, uint32_t callers)
{
    uint32_t stack = last.caller;

    for (uint32_t at = last.length; at < callers; at++) {
        uintptr_t address = prof_image.text_base + word_at(chain, at);

        stack = add(stack, address, prof_address_calling_function(address));
        if (stack == 0)
            return 0;
    }
    return add(stack, chain->pc, chain->function);
}

uint32_t prof_stack_of(const struct prof_chain *chain)
{
    uint32_t callers = chain->count + (chain->caller != 0);
    uint32_t common = common_with_last(chain, callers);

    if (common == callers && common == last.length && last.leaf != 0 &&
        last.pc == chain->pc)
        return last.leaf;
    cut_last(common);
    follow(chain, callers);
    return last.leaf != 0 ? last.leaf : make(chain, callers);
}

bool prof_stacks_find(uint32_t number, struct prof_stream_node *found)
{
    struct prof_stack *stack = prof_stack_at(number);

    if (number == 0 || number >= prof_stacks.used)
        return false;
    *found = (struct prof_stream_node){stack->record.parent, stack->record.key,
                                       &stack->emitted};
    return true;
}

void prof_stack_credit(struct prof_stack *stack, uint64_t samples,
                       uint64_t cycles, uint64_t tsc)
{
    if (stack->self.samples == 0)
        stack->first_tsc = tsc;
    stack->last_tsc = tsc;
    prof_amount_add(&stack->self, samples, cycles);
}

void prof_stacks_clear(void)
{
    for (uint32_t i = 1; i < prof_stacks.used; i++)
        prof_stack_at(i)->self = (struct prof_amount){0};
}
