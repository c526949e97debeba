/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Resolves a sample. The common case, a known address without callers, does not
 * get here: the drain takes its stack from the address cache, one hash lookup
 * per sample.
 */

#include "profile/resolve.h"

#include "profile/image.h"
#include "profile/stacks.h"

#include <prof/format.h>

static bool is_idle(uintptr_t pc)
{
    return pc >= prof_image.idle.begin && pc < prof_image.idle.end;
}

/* The return address of a function whose frame is not set up, from the words
 * kept of the stack; 0 if the frame pointer leads to the caller. */
static uintptr_t hidden_caller(struct prof_resolved *resolved,
                               const uint32_t *words)
{
    uint32_t caller = prof_address_caller(prof_address_at(resolved->address),
                                          &prof_image.text);
    uint32_t word = caller - PROF_CALLER_IN_WORD;
    uintptr_t kept;

    if (caller < PROF_CALLER_IN_WORD)
        return 0;
    resolved->caller_unreachable = word >= PROF_FRAMES_KEPT;
    if (resolved->caller_unreachable)
        return 0;
    kept = prof_frames_kept(words, word);
    return kept - prof_image.text_base < prof_image.text_bytes ? kept : 0;
}

/*
 * Copies the (count) words at (words) to (to), as offsets, up to the first that
 * is not in the code. Returns their number. A zero as the last word is the
 * regular end of a stack; anything else that is not code is an early end.
 */
static uint32_t keep_code_addresses(struct prof_resolved *resolved,
                                    const uint32_t *words, uint32_t count,
                                    uint32_t *to)
{
    const uint32_t base = (uint32_t)prof_image.text_base;
    const uintptr_t bytes = prof_image.text_bytes;
    uint32_t i = 0;

    while (i < count && (to[i] = words[i] - base) < bytes)
        i++;
    if (i < count && (resolved->stop != 0 || words[i] != 0 || i + 1 < count))
        resolved->stop = PROF_WALK_NOT_CODE;
    return i;
}

/* Finds or creates the stack, from the words at (words). False: no memory. */
static bool find_stack(struct prof_resolved *resolved, struct prof_chain *chain,
                       const uint32_t *words, uint32_t walk)
{
    uint32_t count = prof_walk_words(walk), callers[PROF_DEPTH_MAX];

    if (count >= PROF_FRAMES_HEAD) {
        chain->caller = hidden_caller(resolved, words);
        chain->words = callers;
        chain->count = keep_code_addresses(resolved, words + PROF_FRAMES_HEAD,
                                           count - PROF_FRAMES_HEAD, callers);
    }
    resolved->stack = prof_stack_of(chain);
    return resolved->stack != 0;
}

/* Links the stack to its address, and the address to a stack without callers,
 * for the short cut in the drain. */
static void connect(const struct prof_resolved *resolved,
                    const struct prof_chain *chain)
{
    prof_stack_at(resolved->stack)->address = resolved->address;
    if (chain->count == 0 && chain->caller == 0)
        prof_address_at(resolved->address)->stack = resolved->stack;
}

bool prof_resolve(uintptr_t pc, const struct prof_address *address,
                  const uint32_t *words, uint32_t walk,
                  struct prof_resolved *resolved)
{
    struct prof_chain chain = {.pc = pc};

    *resolved = (struct prof_resolved){.stop = prof_walk_reason(walk)};
    if (address == NULL && is_idle(pc)) {
        resolved->class = PROF_CLASS_IDLE;
        return true;
    }
    if (address == NULL)
        address = prof_address_get(pc);
    if (address == NULL)
        return false;
    resolved->class = address->class;
    resolved->address = prof_address_number(address);
    chain.function = address->record.link;
    if (!find_stack(resolved, &chain, words, walk))
        return false;
    connect(resolved, &chain);
    return true;
}

void prof_credit(const struct prof_resolved *resolved, uint64_t samples,
                 uint64_t cycles, uint64_t tsc)
{
    prof_amount_add(&prof_accounts.drained[resolved->class], samples, cycles);
    if (resolved->stack != 0)
        prof_stack_credit(prof_stack_at(resolved->stack), samples, cycles, tsc);
}

void prof_credit_flat(const struct prof_address *address, uint64_t cycles,
                      uint64_t tsc)
{
    prof_amount_add(&prof_accounts.drained[address->class], 1, cycles);
    prof_stack_credit(prof_stack_at(address->stack), 1, cycles, tsc);
}
