/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The drain writes the maps of addresses and functions, and the trees of
 * stacks, through here.
 *
 * Where many samples are taken they mostly have no callers, and of such a one
 * nothing is looked up but its address, whose cell knows the node. Its function
 * and its call follow from that, and learn of it when somebody asks.
 */

#include "place.h"

#include "caller.h"
#include "stacks.h"

#include <prof/format.h>
#include <prof/symbols.h>

static bool in_range(const struct prof_range *range, uintptr_t pc)
{
    return pc >= range->begin && pc < range->end;
}

/*
 * What a cell of an address knows of its caller: nothing yet, that it is where
 * the frame pointer says, or the word of the stack that it is in, plus this.
 */
#define CALLER_UNKNOWN 0u
#define CALLER_BY_FRAME 1u
#define CALLER_IN_WORD 2u
#define CALLER_MASK ((1u << 27) - 1) /* no stack is as large as that */

/*
 * Finds the function of an address that is new and makes sure that both maps
 * have room, so that adding cannot succeed in one and fail in the other.
 */
static bool make_room(struct prof_place *place)
{
    struct prof_symbol symbol;

    place->owner = place->pc;
    place->class = PROF_CLASS_UNRESOLVED;
    if (prof_symbol_find(place->pc, &symbol)) {
        place->owner = symbol.start;
        place->class = PROF_CLASS_ATTRIBUTED;
    }
    return prof_map_reserve(&prof_state.addresses) &&
           prof_map_reserve(&prof_state.functions);
}

struct prof_cell *prof_place_address(uintptr_t pc)
{
    return in_range(&prof_state.config.idle, pc)
               ? NULL
               : prof_map_find(&prof_state.addresses, pc);
}

/*
 * Finds out where samples of (place->pc) belong. False: they are new and there
 * is no room for them.
 */
static bool locate(struct prof_place *place)
{
    const struct prof_cell *address = place->address;

    if (address == NULL && in_range(&prof_state.config.idle, place->pc)) {
        place->class = PROF_CLASS_IDLE;
        return true;
    }
    if (address == NULL)
        return make_room(place);
    place->owner = address->owner;
    place->caller = address->caller;
    place->function = prof_map_find(&prof_state.functions, place->owner);
    place->class = address->class;
    return true;
}

/* Finds out where the caller of code at (place->pc) is to be looked for. */
static void look_at_code(struct prof_place *place)
{
    struct prof_range function;
    struct prof_symbol symbol;
    uint32_t word = PROF_CALLER_FRAME;

    if (place->caller != CALLER_UNKNOWN)
        return;
    if (prof_symbol_find(place->pc, &symbol)) {
        function.begin = symbol.start;
        function.end = symbol.start + symbol.size;
        word = prof_caller_place(place->pc, &function, &prof_state.config.text);
    }
    place->caller =
        word == PROF_CALLER_FRAME ? CALLER_BY_FRAME : CALLER_IN_WORD + word;
}

/* A word of the stack as its distance from the code's second byte: no call
 * returns to the first one, and a word looked up as it is lies inside the call.
 * Not less than text_bytes: it is no code. */
static uint32_t distance(uint32_t word)
{
    return word - (uint32_t)prof_hot.text_base;
}

/* The caller that the frame pointers do not know of, 0 where there is none. */
static uintptr_t hidden_caller(struct prof_place *place, const uint32_t *words)
{
    uintptr_t kept;
    uint32_t word;

    look_at_code(place);
    if (place->caller < CALLER_IN_WORD)
        return 0;
    word = place->caller - CALLER_IN_WORD;
    place->far = word >= PROF_FRAMES_KEPT;
    if (place->far)
        return 0;
    kept = prof_frames_kept(words, word);
    return kept - prof_hot.text_base < prof_hot.text_bytes ? kept : 0;
}

/*
 * Puts the distances of (count) words of frames at (words) to (to), up to one
 * that is no code. Returns how many there are. A zero behind the outermost
 * frame is where a stack begins, and no early end.
 */
static uint32_t sift(struct prof_place *place, const uint32_t *words,
                     uint32_t count, uint32_t *to)
{
    const uintptr_t bytes = prof_hot.text_bytes;
    uint32_t i = 0;

    while (i < count && (to[i] = distance(words[i])) < bytes)
        i++;
    if (i < count && (place->stop != 0 || words[i] != 0 || i + 1 < count))
        place->stop = PROF_WALK_NOT_CODE;
    return i;
}

/* Finds its stack, from the words at (words). False: it is new and there is no
 * room for it. */
static bool find_stack(struct prof_place *place, const uint32_t *words,
                       uint32_t walk)
{
    struct prof_chain chain = {.pc = place->pc};
    uint32_t count = prof_walk_words(walk), callers[PROF_DEPTH_MAX];

    place->stop = prof_walk_reason(walk);
    if (place->class == PROF_CLASS_IDLE)
        return true;
    if (count >= PROF_FRAMES_HEAD) {
        chain.caller = hidden_caller(place, words);
        chain.words = callers;
        chain.count = sift(place, words + PROF_FRAMES_HEAD,
                           count - PROF_FRAMES_HEAD, callers);
    }
    place->alone = chain.count == 0 && chain.caller == 0;
    place->node = prof_stacks_node(&chain);
    return place->node != 0;
}

bool prof_place_find(struct prof_place *place, const uint32_t *words,
                     uint32_t walk)
{
    return locate(place) && find_stack(place, words, walk);
}

static void credit_cell(struct prof_cell *cell, uint64_t samples,
                        uint64_t cycles)
{
    cell->count += samples;
    cell->cycles += cycles;
}

/* Makes the cell of an address that is new, credits it and its function's, and
 * returns it. */
static struct prof_cell *credit_new(const struct prof_place *place,
                                    uint64_t samples, uint64_t cycles)
{
    struct prof_cell *address = prof_map_add(&prof_state.addresses, place->pc,
                                             place->owner, samples, cycles);

    address->class = place->class;
    /* A function's own owner only says whether it has a name. */
    prof_map_add(&prof_state.functions, place->owner,
                 place->class == PROF_CLASS_ATTRIBUTED, samples, cycles);
    return address;
}

void prof_place_credit(const struct prof_place *place, uint64_t samples,
                       uint64_t cycles, uint64_t tsc)
{
    struct prof_cell *address = place->address;

    prof_state.counts.count[place->class] += samples;
    prof_state.counts.cycles[place->class] += cycles;
    if (place->class == PROF_CLASS_IDLE)
        return;
    prof_stacks_credit(place->node, samples, cycles, tsc);
    if (address != NULL) {
        credit_cell(address, samples, cycles);
        credit_cell(place->function, samples, cycles);
    } else {
        address = credit_new(place, samples, cycles);
    }
    address->caller = place->caller & CALLER_MASK;
    if (place->alone)
        address->node = place->node;
}

void prof_place_credit_flat(struct prof_cell *address, uint64_t cycles,
                            uint64_t tsc)
{
    prof_state.counts.count[address->class]++;
    prof_state.counts.cycles[address->class] += cycles;
    credit_cell(address, 1, cycles);
    prof_tree_credit(&prof_state.stacks, address->node, 1, cycles, tsc);
}

/* Adds what each stack that is nothing but an address has to its call. */
static void add_to_calls(void)
{
    const struct prof_node *stacks = prof_state.stacks.nodes;

    for (uint32_t i = stacks[0].child; i != 0; i = stacks[i].sibling) {
        struct prof_node *call = &prof_state.calls.nodes[stacks[i].link];

        call->samples += stacks[i].samples;
        call->cycles += stacks[i].cycles;
    }
}

/*
 * A call by nobody has as many samples as the stacks have that are nothing but
 * an address in its function. It and the function's cell know as many of them
 * as there were the last time: less than those, it has what the cell is due,
 * and is then added up anew.
 */
void prof_place_settle(void)
{
    struct prof_node *calls = prof_state.calls.nodes;

    if (calls == NULL || prof_state.stacks.nodes == NULL)
        return;
    for (uint32_t i = calls[0].child; i != 0; i = calls[i].sibling) {
        calls[i].samples = -calls[i].samples;
        calls[i].cycles = -calls[i].cycles;
    }
    add_to_calls();
    for (uint32_t i = calls[0].child; i != 0; i = calls[i].sibling) {
        if (calls[i].samples != 0)
            credit_cell(prof_map_find(&prof_state.functions, calls[i].address),
                        calls[i].samples, calls[i].cycles);
        calls[i].samples = calls[i].cycles = 0;
    }
    add_to_calls();
}
