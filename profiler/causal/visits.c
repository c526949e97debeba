/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Calls of patched functions. Only the outermost call of a target on a stack
 * has its return address replaced, so recursion costs no more than an entry.
 *
 * A call may also end by longjmp(), or because its task does. It has ended if
 * something that was called from further out returns or is called, if its
 * return address is no longer where it was, or if the loop turns on its stack.
 */

#include "causal/causal.h"
#include "causal/own.h"
#include "causal/patch.h"

#include "base/cpu.h"
#include "sample/cpu_state.h"

#include <prof/error.h>
#include <prof/origin.h>

#define PROBES 8u /* places for a return address that are tried */
#define HASH_FACTOR 0x9e3779b1u
#define HASH_SHIFT 25u /* to 0 to PROF_RETURNS - 1 */

_Static_assert(PROF_RETURNS == 1u << (32 - HASH_SHIFT), "the hash fits");

struct prof_patch *prof_patch;

/* Whether (place) is in the stack from (begin) to (end). */
static bool within(const uintptr_t *place, uintptr_t begin, uintptr_t end)
{
    return (uintptr_t)place >= begin && (uintptr_t)place < end;
}

/* The bounds of the current stack; if they are unknown, all of memory. */
static void current_stack(uintptr_t *begin, uintptr_t *end)
{
    const struct prof_stack_bounds *bounds = prof_cpu_here()->stack;

    *begin = 0;
    *end = UINTPTR_MAX;
    if (bounds == NULL || bounds->last_frame == 0)
        return;
    *begin = bounds->begin;
    *end = (bounds->last_frame + 2) * sizeof(uintptr_t);
}

/* The call has ended, at (now). */
static void end_visit(uint32_t number, uint64_t now)
{
    prof_causal_leave_at(&prof_patch->visits[number].function->target, now,
                         prof_own.patched);
    prof_patch->visits[number] = prof_patch->visits[--prof_patch->visits_count];
}

static uintptr_t return_at(uint32_t number)
{
    return (uintptr_t)prof_patch_returns + number * PROF_RETURN_BYTES;
}

static bool is_replaced(uintptr_t address)
{
    return address - (uintptr_t)prof_patch_returns < sizeof prof_patch_returns;
}

/* The address that replaces the return address (to); 0: no room. */
static uintptr_t replacement(uintptr_t to)
{
    uint32_t at = ((uint32_t)to * HASH_FACTOR) >> HASH_SHIFT;

    if (is_replaced(to))
        return to;
    for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) % PROF_RETURNS) {
        if (prof_patch->returns[at] == 0)
            prof_patch->returns[at] = to;
        if (prof_patch->returns[at] == to)
            return return_at(at);
    }
    return 0;
}

/* Ends the calls on the current stack that the one at (place) shows to have
 * ended. Returns whether there is one of (function). */
static bool end_visits_above(const struct prof_patched *function,
                             const uintptr_t *place, uint64_t began)
{
    uintptr_t begin, end;
    bool inside = false;

    prof_causal_except_samples();
    current_stack(&begin, &end);
    for (uint32_t i = prof_patch->visits_count; i-- != 0;) {
        const struct prof_visit *visit = &prof_patch->visits[i];

        if (!within(visit->place, begin, end))
            continue;
        if (visit->place < place || !is_replaced(*visit->place))
            end_visit(i, began);
        else
            inside = inside || visit->function == function;
    }
    return inside;
}

/* Reads the clock last, as leaving reads it first: so what is done here is not
 * in the target's time. */
static void enter_target(struct prof_patched *function, uintptr_t *place,
                         uint64_t began)
{
    uintptr_t by;

    if (prof_patch->visits_count != 0 &&
        end_visits_above(function, place, began))
        return;
    by = prof_patch->visits_count < PROF_VISITS_MAX ? replacement(*place) : 0;
    if (by == 0) {
        prof_patch->untracked++;
        return;
    }
    prof_patch->visits[prof_patch->visits_count++] =
        (struct prof_visit){place, function};
    *place = by;
    prof_causal_enter_last(&function->target);
}

/* The hook (began) then: from there on virtual time stands still, and so
 * nothing of it is the target's, or of the experiment before. The host may have
 * taken a long time since. */
static __attribute__((noinline)) void
call_begins(uintptr_t at, uintptr_t *place, uint64_t began)
{
    uintptr_t number = (at - (uintptr_t)prof_patch_entries) / PROF_ENTRY_BYTES;
    struct prof_patched *function = &prof_patch->functions[number];

    if (function->is_point && prof_causal_state != PROF_CAUSAL_NOTHING)
        prof_causal_visit_at(&function->point, began);
    if (!prof_causal_on())
        return;
    if (prof_patch_enters(function) && !function->loops)
        enter_target(function, place, began);
}

/* A function that returns may remove arguments as well, so that this is at or
 * above the place of its return address. */
static __attribute__((noinline)) void call_ends(uintptr_t *place,
                                                uint64_t began)
{
    uintptr_t number =
        (*place - (uintptr_t)prof_patch_returns) / PROF_RETURN_BYTES;
    uintptr_t begin, end;

    prof_causal_except_samples();
    current_stack(&begin, &end);
    for (uint32_t i = prof_patch->visits_count; i-- != 0;) {
        const struct prof_visit *visit = &prof_patch->visits[i];

        if (visit->place <= place && within(visit->place, begin, end))
            end_visit(i, began);
    }
    *place = prof_patch->returns[number];
}

void prof_patch_hook(uintptr_t *frame)
{
    struct prof_own_call began = prof_own_begin();

    if (frame[1] - (uintptr_t)prof_patch_entries < sizeof prof_patch_entries)
        call_begins(frame[1], &frame[3], began.began);
    else
        call_ends(&frame[1], began.began);
    prof_own_end(began, prof_own.hook);
}

void prof_patch_turn(void)
{
    uintptr_t begin, end, here = (uintptr_t)__builtin_frame_address(0);
    uint64_t now;
    bool on;

    on = prof_interrupts_save();
    now = prof_causal_exactly();
    current_stack(&begin, &end);
    for (uint32_t i = prof_patch->visits_count; i-- != 0;) {
        struct prof_visit *visit = &prof_patch->visits[i];

        if (!within(visit->place, begin, end))
            continue;
        if ((uintptr_t)visit->place > here && is_replaced(*visit->place))
            visit->function->loops = true;
        end_visit(i, now);
    }
    prof_interrupts_restore(on);
}

/* (target) goes on in its task, which is not another visit. */
static void go_on(struct prof_target *target)
{
    prof_causal_enter(target);
    target->visits--;
}

void prof_causal_switched(uintptr_t begin, uintptr_t end)
{
    uintptr_t old_begin, old_end;
    bool on;

    if (prof_patch == NULL || prof_patch->visits_count == 0)
        return;
    on = prof_interrupts_save();
    current_stack(&old_begin, &old_end);
    for (uint32_t i = 0; i < prof_patch->visits_count; i++)
        if (within(prof_patch->visits[i].place, old_begin, old_end))
            prof_causal_leave(&prof_patch->visits[i].function->target);
    for (uint32_t i = prof_patch->visits_count; i-- != 0;) {
        const struct prof_visit *visit = &prof_patch->visits[i];

        if (within(visit->place, begin, end) && is_replaced(*visit->place))
            go_on(&visit->function->target);
    }
    prof_interrupts_restore(on);
}

/* ---- what samples and walks of the stack find in entries and returns */

/* Where the instruction in an entry was moved from, or if others before it
 * changed their lengths, another of the function. The entry makes a frame
 * first, as most functions do. */
static uintptr_t origin_of_entry(uint32_t offset)
{
    const struct prof_patched *function =
        &prof_patch->functions[offset / PROF_ENTRY_BYTES];
    uint32_t inside = offset % PROF_ENTRY_BYTES;
    uint32_t most = function->taken;

    if (inside < PROF_ENTRY_HEAD)
        most--;
    else
        inside -= PROF_ENTRY_HEAD;
    return function->head.begin + (inside < most ? inside : most);
}

uintptr_t prof_patch_origin(uintptr_t address)
{
    uintptr_t in_entries = address - (uintptr_t)prof_patch_entries;
    uintptr_t in_returns = address - (uintptr_t)prof_patch_returns;

    if (in_entries < sizeof prof_patch_entries &&
        prof_patch->functions[in_entries / PROF_ENTRY_BYTES].head.begin != 0)
        return origin_of_entry((uint32_t)in_entries);
    if (in_returns < sizeof prof_patch_returns &&
        prof_patch->returns[in_returns / PROF_RETURN_BYTES] != 0)
        return prof_patch->returns[in_returns / PROF_RETURN_BYTES];
    return address;
}
