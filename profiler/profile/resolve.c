/* SPDX-License-Identifier: Apache-2.0 */

/* Resolves a sample of which something is not known yet. */

#include "profile/resolve.h"

#include "profile/image.h"
#include "profile/stacks.h"

#include <prof/config.h>
#include <prof/format.h>

static bool is_idle(uintptr_t pc)
{
    return pc >= prof_image.idle.begin && pc < prof_image.idle.end;
}

bool prof_resolve_callers(const uint32_t *frames, uint32_t count, uint32_t hash,
                          struct prof_callers *callers)
{
    if (!PROF_WITH_CALLERS)
        return false;
    if (!prof_stack_of_callers(frames, count, callers))
        return false;
    prof_recent_note_callers(frames, count, hash, callers);
    return true;
}

/* Whether any of the words (kept) of the stack might be a return address. */
static bool has_candidate(const uint32_t *kept)
{
    for (uint32_t i = 0; i < PROF_FRAMES_KEPT; i++)
        if (prof_is_code(prof_frames_kept(kept, i)))
            return true;
    return false;
}

/* Sets how the caller of (leaf), at (address), is found. Returns that caller if
 * it is one of the words (kept) of the stack, because the function's frame is
 * not set up; else 0. */
static uintptr_t kept_caller(struct prof_address *address, const uint32_t *kept,
                             struct prof_recent_leaf *leaf)
{
    uint32_t word;

    leaf->found_by = PROF_LEAF_FRAME;
    if (address->caller == PROF_CALLER_UNKNOWN &&
        (prof_addresses_are_enough() ||
         (address->pending < PROF_CALLER_PENDING_MAX && !has_candidate(kept))))
        return 0;
    word = prof_address_caller(address) - PROF_CALLER_IN_WORD;
    if (word >= PROF_FRAMES_KEPT)
        return 0;
    leaf->found_by = (uint8_t)(PROF_LEAF_KEPT + word);
    leaf->kept = prof_frames_kept(kept, word);
    return prof_is_code(leaf->kept) ? leaf->kept : 0;
}

/* Counts a sample of (address) with callers if its own caller is not known or
 * not reachable. False: it is known, so that like samples need not be resolved.
 */
static bool count_caller(struct prof_address *address)
{
    if (address->caller == PROF_CALLER_UNKNOWN)
        address->pending++;
    else if (address->caller >= PROF_CALLER_IN_WORD + PROF_FRAMES_KEPT)
        prof_accounts.caller_unreachable++;
    else
        return false;
    return true;
}

/* The stack of (pc), in (function), below (callers) or, if (caller) is not 0,
 * below that caller between them. 0: no memory. */
static uint32_t find_stack(uint32_t callers, uintptr_t caller, uintptr_t pc,
                           uint32_t function)
{
    if (caller != 0) {
        callers = prof_stack_of(callers, caller, 0);
        if (callers == 0)
            return 0;
    }
    return prof_stack_of(callers, pc, function);
}

/* The same as prof_resolve() for a stack that is not known to be that of all
 * samples at (leaf) with words. */
static uint32_t resolve_new(struct prof_recent_leaf *leaf, const uint32_t *kept)
{
    struct prof_address *address = prof_address_find(leaf->pc);
    struct prof_stack *stack;
    uintptr_t caller = 0;
    uint32_t number;

    if (address == NULL && is_idle(leaf->pc))
        return 0;
    if (address == NULL)
        address = prof_address_add(leaf->pc);
    if (address == NULL)
        return PROF_NO_MEMORY;
    number = prof_address_number(address);
    if (PROF_WITH_CALLERS && kept != NULL)
        caller = kept_caller(address, kept, leaf);
    leaf->stack =
        find_stack(leaf->callers, caller, leaf->pc, address->record.link);
    if (leaf->stack == 0)
        return PROF_NO_MEMORY;
    address = prof_address_at(number);
    stack = prof_stack_at(leaf->stack);
    stack->address = number & PROF_ADDRESS_MAX;
    stack->class = address->class;
    stack->framed = address->caller == PROF_CALLER_BY_FRAME;
    if (!PROF_WITH_CALLERS || kept == NULL || !count_caller(address))
        prof_recent_note_leaf(leaf);
    return leaf->stack;
}

uint32_t prof_resolve(uintptr_t pc, uint32_t callers, const uint32_t *kept)
{
    struct prof_recent_leaf leaf = {.pc = pc, .callers = callers};

    leaf.stack = prof_stack_find(callers, pc);
    if (!PROF_WITH_CALLERS || kept == NULL ||
        !prof_stack_at(leaf.stack)->framed)
        return resolve_new(&leaf, kept);
    leaf.found_by = PROF_LEAF_FRAME;
    prof_recent_note_leaf(&leaf);
    return leaf.stack;
}
