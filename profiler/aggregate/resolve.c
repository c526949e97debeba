/* SPDX-License-Identifier: Apache-2.0 */

/* Resolves a sample of which something is not known yet. */

#include "aggregate/resolve.h"

#include "aggregate/drain.h"
#include "aggregate/image.h"
#include "aggregate/stacks.h"
#include "sample/cpu_state.h"
#include "unwind/prologue.h"

#include <prof/config.h>
#include <prof/format.h>
#include <prof/origin.h>

/* In units of some 50 instructions; decoding one of a prologue is a unit,
 * too. */
#define WORK_WORD 4u /* a word of callers that are not recent ones */
#define WORK_STACK                                                             \
    12u /* a new stack: its address, function, call, definition */

static struct {
    uint32_t words; /* of callers, since boot */
    uint32_t begun; /* all work since boot when the present drain began */
    uint32_t most;
    bool first; /* no callers were resolved since then */
} work;

static uint32_t work_since_boot(void)
{
    return work.words * WORK_WORD + prof_stacks.used * WORK_STACK +
           prof_prologue_steps;
}

void prof_resolve_begin(uint32_t most)
{
    work.begun = work_since_boot();
    work.most = most;
    work.first = true;
}

uint32_t prof_resolve_work(void)
{
    return work_since_boot() - work.begun;
}

bool prof_resolve_is_enough(void)
{
    return prof_resolve_work() >= work.most;
}

static bool is_idle(uintptr_t pc)
{
    return pc >= prof_image.idle.begin && pc < prof_image.idle.end;
}

const struct prof_callers *prof_resolve_callers(const uint32_t *frames,
                                                uint32_t count, uint32_t hash)
{
    static struct prof_callers callers;
    const struct prof_callers *displaced;

    if (!PROF_WITH_CALLERS)
        return NULL;
    displaced = prof_recent_find_displaced(frames, count, hash);
    if (displaced != NULL)
        return displaced;
    if (prof_resolve_is_enough())
        return NULL;
    /* Those of the first sample are no part of (most), or a deeper stack would
       wait for ever where it cannot be noted, for lack of memory. */
    if (work.first)
        work.begun += count * WORK_WORD;
    work.first = false;
    work.words += count;
    if (!prof_stack_of_callers(frames, count, &callers))
        return NULL;
    prof_recent_note_callers(frames, hash, &callers);
    return &callers;
}

/* Whether any of the words (kept) of the stack might be the return address of
 * a sample below the stack (callers). One that the frame pointer leads to as
 * well is in the function's own frame, unless it is on top. */
static bool has_candidate(const uint32_t *kept, uint32_t callers)
{
    uintptr_t by_frame = prof_stack_at(callers)->record.key;

    for (uint32_t i = 0; i < PROF_FRAMES_KEPT; i++) {
        uintptr_t word = prof_origin(prof_frames_kept(kept, i));

        if (prof_is_code(word) && (i == 0 || word != by_frame))
            return true;
    }
    return false;
}

/* Whether the caller of (address) remains unknown for a sample with the words
 * (kept) below the stack (callers), since it need not be looked for. */
static bool is_left_unknown(struct prof_address *address, const uint32_t *kept,
                            uint32_t callers)
{
    if (address->caller != PROF_CALLER_UNKNOWN)
        return false;
    if (!prof_is_code(prof_frames_kept(kept, 0)) &&
        prof_address_without_top(address))
        return false;
    return address->pending < PROF_CALLER_PENDING_MAX &&
           !has_candidate(kept, callers);
}

/* Sets how the caller of (leaf), at (address), is found. Returns that caller if
 * it is one of the words (kept) of the stack, because the function's frame is
 * not set up; else 0. */
static uintptr_t kept_caller(struct prof_address *address, const uint32_t *kept,
                             struct prof_recent_leaf *leaf)
{
    uint32_t word;

    leaf->found_by = PROF_LEAF_FRAME;
    if (is_left_unknown(address, kept, leaf->callers))
        return 0;
    word = prof_address_caller(address) - PROF_CALLER_IN_WORD;
    if (word >= PROF_FRAMES_KEPT)
        return 0;
    leaf->found_by = (PROF_LEAF_KEPT + word) & 7u;
    leaf->kept = prof_frames_kept(kept, word);
    return prof_is_code(leaf->kept) ? prof_origin(leaf->kept) : 0;
}

/* Counts a sample of (address) with callers if its own caller is not known or
 * not reachable. False: it is known, so that like samples need not be resolved.
 */
static bool count_caller(struct prof_address *address)
{
    if (address->caller == PROF_CALLER_UNKNOWN)
        address->pending++;
    else if (address->caller >= PROF_CALLER_IN_WORD + PROF_FRAMES_KEPT)
        prof_accounts_of(PROF_CPU_FIRST)->caller_unreachable++;
    else
        return false;
    return true;
}

static void set_stack(struct prof_recent_leaf *leaf, uint32_t number)
{
    leaf->number = number & PROF_STACK_NUMBER_MAX;
    leaf->stack = prof_stack_at(number);
}

/* The stack of (leaf), in (function), below its callers or, if (caller) is not
 * 0, below that caller between them; (slot) is that of the former. 0: no
 * memory. */
static uint32_t find_stack(const struct prof_recent_leaf *leaf,
                           uintptr_t caller, uint32_t *slot, uint32_t function)
{
    uint32_t callers = leaf->callers;

    if (caller == 0)
        return prof_stack_in(slot, callers, leaf->pc, function);
    callers = prof_stack_of(callers, caller, 0);
    return callers != 0 ? prof_stack_of(callers, leaf->pc, function) : 0;
}

/* The same as prof_resolve() for a stack, at (slot), that is not known to be
 * that of all samples at (leaf) with words. False: no memory. */
static bool resolve_new(struct prof_recent_leaf *leaf, const uint32_t *kept,
                        uint32_t *slot)
{
    uint32_t *address_slot = prof_address_slot(leaf->pc), number, stack;
    struct prof_address *address;
    uintptr_t caller = 0;

    if (is_idle(leaf->pc)) { /* also where it is a caller of others */
        leaf->found_by = kept == NULL ? PROF_LEAF_FLAT : PROF_LEAF_FRAME;
        leaf->stack = NULL;
        prof_recent_note_leaf(leaf);
        return true;
    }
    number = prof_address_in(address_slot, leaf->pc);
    if (number == 0)
        return false;
    address = prof_address_at(number);
    if (PROF_WITH_CALLERS && kept != NULL)
        caller = kept_caller(address, kept, leaf);
    stack = find_stack(leaf, caller, slot, address->record.link);
    if (stack == 0)
        return false;
    set_stack(leaf, stack);
    leaf->stack->address = number & PROF_ADDRESS_MAX;
    leaf->stack->class = address->class;
    leaf->stack->framed = address->caller == PROF_CALLER_BY_FRAME;
    if (!PROF_WITH_CALLERS || kept == NULL || !count_caller(address))
        prof_recent_note_leaf(leaf);
    return true;
}

/* Without walks the interrupt does not look for user mode: then it is what lies
 * below a kernel in the upper half, and not in its code. Else (pc) itself. */
static uintptr_t user_or(uintptr_t pc)
{
    const uintptr_t half = UINTPTR_MAX / 2 + 1;

    if (PROF_WITH_USER && prof_image.text.begin >= half && pc < half &&
        prof_drain_depth() == 0)
        return PROF_USER_BASE;
    return pc;
}

const struct prof_recent_leaf *prof_resolve(uintptr_t pc, uint32_t callers,
                                            const uint32_t *kept)
{
    static struct prof_recent_leaf leaf;
    uint32_t *slot;

    if (prof_resolve_is_enough())
        return NULL;
    pc = user_or(prof_origin(pc));
    slot = prof_stack_slot(callers, pc);
    leaf = (struct prof_recent_leaf){.pc = pc, .callers = callers};
    if (!PROF_WITH_CALLERS || kept == NULL || !prof_stack_at(*slot)->framed)
        return resolve_new(&leaf, kept, slot) ? &leaf : NULL;
    set_stack(&leaf, *slot);
    leaf.found_by = PROF_LEAF_FRAME;
    prof_recent_note_leaf(&leaf);
    return &leaf;
}
