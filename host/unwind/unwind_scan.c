/* SPDX-License-Identifier: Apache-2.0 */
/* Callers where nothing says how to find them: words that calls have left. */

#include "unwind/walk.h"
#include "base/memory.h"
#include "image/names.h"

#include <stdlib.h>
#include <string.h>

#define SCANNED_WORDS 256u
#define DOUBTED_WORDS 24u
#define CALL 0xe8
#define CALL_BYTES 5   /* with the distance to its target */
#define CALL_LONGEST 7 /* of an indirect call */
#define GROUP_5 0xff   /* its /2 calls */
#define HEAD_BYTES 24u
#define FUNCTION_BYTES 32768u /* of a function are searched for jumps */
#define PART_BYTES 2048u      /* of it, at a time */
#define JUMP_BYTES 6u         /* the longest jump */
#define JUMPS 2u              /* in a row */
#define JMP 0xe9
#define TWO_BYTES 0x0f /* of an opcode */
#define JCC 0x80
#define THUNK "_indirect_thunk_"

/* The call that ends before (address), whose bytes before it are these. */
static struct call decode_call(uint64_t address, const uint8_t *bytes)
{
    const uint8_t *end = bytes + CALL_LONGEST;
    uint32_t distance = 0;

    if (end[-CALL_BYTES] == CALL) {
        for (int i = 1; i < CALL_BYTES; ++i)
            distance = distance << 8 | end[-i];
        return (struct call){CALL_DIRECT,
                             address + (uint64_t)(int64_t)(int32_t)distance};
    }
    for (int length = 2; length <= CALL_LONGEST; ++length) {
        if (end[-length] == GROUP_5 && (end[1 - length] >> 3 & 7) == 2)
            return (struct call){CALL_INDIRECT, 0};
    }
    return (struct call){0};
}

/* Whether the function at (address) is a thunk for indirect calls, as compilers
 * make them against speculation. */
static bool is_thunk(const struct unwinder *unwinder, uint64_t address)
{
    const struct image_symbol *symbol = walk_symbol(unwinder, address);

    return symbol != NULL && strstr(symbol->name, THUNK) != NULL;
}

/* The call before (address), as far as there is one. */
static struct call call_before(struct walk *walk, uint64_t address)
{
    struct unwinder *unwinder = walk->unwinder;
    const struct places_memory *memory = &walk->memory->any;
    uint8_t bytes[CALL_LONGEST];
    bool is_new;
    uint32_t number;

    if (places_at(&unwinder->places, address) == NULL)
        return (struct call){0};
    number = index_add(&unwinder->calls, address, &is_new);
    if (!is_new)
        return unwinder->call_list[number];
    vector_reserve_one(&unwinder->call_list, number, sizeof(struct call));
    unwinder->call_list[number] = (struct call){0};
    if (memory->bytes(memory->owner, address - sizeof bytes, bytes,
                      sizeof bytes))
        unwinder->call_list[number] = decode_call(address, bytes);
    if (unwinder->call_list[number].kind == CALL_DIRECT &&
        is_thunk(unwinder, unwinder->call_list[number].target))
        unwinder->call_list[number].kind = CALL_INDIRECT;
    return unwinder->call_list[number];
}

/* Whether the function with (address) sets up a frame pointer. */
static bool sets_frame(struct walk *walk, uint64_t address)
{
    struct unwinder *unwinder = walk->unwinder;
    const struct places_memory *memory = &walk->memory->any;
    uint8_t head[HEAD_BYTES];
    uint64_t start;
    bool is_new;
    uint32_t number;

    if (!walk_function(unwinder, address, &start))
        return false;
    number = index_add(&unwinder->functions, start, &is_new);
    if (is_new) {
        vector_reserve_one(&unwinder->sets_frame, number, 1);
        unwinder->sets_frame[number] =
            memory->bytes(memory->owner, start, head, sizeof head) &&
            code_sets_frame(head, sizeof head);
    }
    return unwinder->sets_frame[number];
}

/* Adds the functions that the code of (count) bytes at (address), a part of
 * (function), jumps to. */
static void add_jumps(const struct unwinder *unwinder, struct jumps *jumps,
                      const uint8_t *bytes, size_t count, uint64_t address,
                      const struct image_symbol *function)
{
    for (size_t i = 1; i + 4 <= count; ++i) {
        bool is_jump =
            bytes[i - 1] == JMP || (i > 1 && bytes[i - 2] == TWO_BYTES &&
                                    (bytes[i - 1] & 0xf0) == JCC);
        uint64_t target, start;
        int32_t distance;

        if (!is_jump)
            continue;
        memcpy(&distance, bytes + i, sizeof distance);
        target = address + i + 4 + (uint64_t)(int64_t)distance;
        if (walk_symbol(unwinder, target) == function ||
            !walk_function(unwinder, target, &start) || start != target)
            continue;
        vector_reserve_one(&jumps->targets, jumps->count, sizeof target);
        jumps->targets[jumps->count++] = target;
    }
}

/* The functions that the one at (start) jumps to. */
static struct jumps jumps_of(struct walk *walk, uint64_t start)
{
    struct unwinder *unwinder = walk->unwinder;
    const struct places_memory *memory = &walk->memory->any;
    const struct image_symbol *function = walk_symbol(unwinder, start);
    uint64_t left = function != NULL ? function->end - function->start : 0;
    uint8_t bytes[PART_BYTES];
    bool is_new;
    uint32_t number = index_add(&unwinder->jumpers, start, &is_new);
    struct jumps *jumps;

    if (!is_new)
        return unwinder->jumps[number];
    vector_reserve_one(&unwinder->jumps, number, sizeof *jumps);
    jumps = &unwinder->jumps[number];
    *jumps = (struct jumps){0};
    for (uint64_t at = start; left > JUMP_BYTES && at - start < FUNCTION_BYTES;
         at += PART_BYTES - JUMP_BYTES) {
        size_t count = left < PART_BYTES ? left : PART_BYTES;

        if (!memory->bytes(memory->owner, at, bytes, count))
            break;
        add_jumps(unwinder, jumps, bytes, count, at, function);
        left -= count < PART_BYTES ? count : PART_BYTES - JUMP_BYTES;
    }
    return *jumps;
}

/* Whether the function at (from) goes on to that at (to) by at most (most)
 * jumps, in place of calls. */
static bool goes_on_to(struct walk *walk, uint64_t from, uint64_t to,
                       unsigned most)
{
    struct jumps jumps = jumps_of(walk, from);

    for (size_t i = 0; i < jumps.count; ++i) {
        if (jumps.targets[i] == to)
            return true;
    }
    for (size_t i = 0; i < jumps.count && most > 1; ++i) {
        if (goes_on_to(walk, jumps.targets[i], to, most - 1))
            return true;
    }
    return false;
}

/* Whether (call) can have led to (function), 0 = unknown. */
static bool leads_to(struct walk *walk, const struct call *call,
                     uint64_t function)
{
    if (call->kind != CALL_DIRECT || function == 0 || call->target == function)
        return call->kind != CALL_NONE;
    return goes_on_to(walk, call->target, function, JUMPS);
}

/* The nearest word that a call of this function has left. Other calls may have
 * left theirs in a frame that is not filled; so a call of this very function
 * that is not far above an indirect one is preferred. A function that sets up a
 * frame pointer may have a frame of any size. */
static enum step scan(struct walk *walk)
{
    struct state *at = &walk->at;
    uint64_t function = 0, value, ip = 0, sp = at->sp;
    unsigned last = SCANNED_WORDS;
    bool frame = sets_frame(walk, at->ip - !at->innermost);

    walk_function(walk->unwinder, at->ip - !at->innermost, &function);
    for (unsigned i = 0; i < last; ++i) {
        struct call call;

        if (!walk_word(walk, sp + i * at->word, &value))
            break;
        call = call_before(walk, value);
        if (!leads_to(walk, &call, function) ||
            (ip != 0 && call.kind != CALL_DIRECT))
            continue;
        ip = value;
        at->sp = sp + (i + 1) * at->word;
        if (call.kind == CALL_DIRECT)
            break;
        if (!frame)
            last = i + DOUBTED_WORDS;
    }
    if (ip == 0)
        return STEP_OUTERMOST;
    at->ip = ip;
    return STEP_UP;
}

void walk_forget(struct unwinder *unwinder)
{
    index_free(&unwinder->calls);
    index_free(&unwinder->functions);
    for (uint32_t i = 0; i < unwinder->jumpers.count; ++i)
        free(unwinder->jumps[i].targets);
    index_free(&unwinder->jumpers);
    free(unwinder->call_list);
    free(unwinder->sets_frame);
    free(unwinder->jumps);
    unwinder->calls = unwinder->functions = (struct index){0};
    unwinder->jumpers = (struct index){0};
    unwinder->call_list = NULL;
    unwinder->sets_frame = NULL;
    unwinder->jumps = NULL;
    unwinder->changes = unwinder->places.changes;
}

/* Whether the frame pointer is still that of this frame: a callee may have
 * changed it, and a scan does not know where it was saved. */
static bool frame_fits(struct walk *walk)
{
    struct state *at = &walk->at;
    uint64_t function = 0, value;
    struct call call;

    if (!walk->stack->scanned)
        return true;
    if (at->fp < at->sp || at->fp - at->sp > SCANNED_WORDS * at->word ||
        !walk_word(walk, at->fp + at->word, &value))
        return false;
    walk_function(walk->unwinder, at->ip - !at->innermost, &function);
    call = call_before(walk, value);
    return leads_to(walk, &call, function);
}

enum step walk_by_scan(struct walk *walk, bool *known)
{
    struct state *at = &walk->at;
    const struct place *place = places_at(&walk->unwinder->places, at->ip);
    struct unwind_stack *stack = walk->stack;
    enum step step;

    *known = place != NULL && !place->code->keeps_frames &&
             place->code->cfi == NULL &&
             (!sets_frame(walk, at->ip - !at->innermost) || !frame_fits(walk));
    if (!*known)
        return STEP_OUTERMOST;
    step = scan(walk);
    if (step == STEP_UP && !stack->scanned &&
        stack->count < UNWIND_FRAMES_MAX) {
        stack->scanned = true;
        stack->addresses[stack->count++] = NAMES_SCANNED;
    }
    return step;
}
