/* SPDX-License-Identifier: Apache-2.0 */
/* Callers where nothing says how to find them: words that calls have left. */

#include "attach/walk.h"
#include "base/memory.h"
#include "image/names.h"

#include <stdlib.h>
#include <string.h>

#define SCANNED_WORDS 256u
#define CALL 0xe8
#define CALL_BYTES 5   /* with the distance to its target */
#define CALL_LONGEST 7 /* of an indirect call */
#define GROUP_5 0xff   /* its /2 calls */
#define HEAD_BYTES 24u
#define FUNCTION_BYTES 1024u /* of a function are searched for jumps */
#define JMP 0xe9
#define TWO_BYTES 0x0f /* of an opcode */
#define JCC 0x80
#define THUNK "__x86_indirect_thunk"

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

/* Whether the function at (address) stands for an indirect call, as compilers
 * make them against speculation. */
static bool is_thunk(const struct unwinder *unwinder, uint64_t address)
{
    const struct image_symbol *symbol = walk_symbol(unwinder, address);

    return symbol != NULL &&
           strncmp(symbol->name, THUNK, sizeof THUNK - 1) == 0;
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

/* Whether the code of (count) bytes at (address) jumps to (target). */
static bool has_jump(uint64_t address, const uint8_t *bytes, size_t count,
                     uint64_t target)
{
    for (size_t i = 1; i + 4 <= count; ++i) {
        bool jumps =
            bytes[i - 1] == JMP || (i > 1 && bytes[i - 2] == TWO_BYTES &&
                                    (bytes[i - 1] & 0xf0) == JCC);
        int32_t distance;

        memcpy(&distance, bytes + i, sizeof distance);
        if (jumps && address + i + 4 + (uint64_t)(int64_t)distance == target)
            return true;
    }
    return false;
}

/* Whether the function at (from) goes on to that at (to) by a jump, in place of
 * a call. */
static bool goes_on_to(struct walk *walk, uint64_t from, uint64_t to)
{
    struct unwinder *unwinder = walk->unwinder;
    const struct places_memory *memory = &walk->memory->any;
    uint8_t bytes[FUNCTION_BYTES];
    bool is_new;
    uint32_t number =
        index_add(&unwinder->jumps, from * 2654435769u + to, &is_new);

    if (is_new) {
        vector_reserve_one(&unwinder->jump_list, number, 1);
        unwinder->jump_list[number] =
            memory->bytes(memory->owner, from, bytes, sizeof bytes) &&
            has_jump(from, bytes, sizeof bytes, to);
    }
    return unwinder->jump_list[number];
}

/* Whether (call) can have led to (function), 0 = unknown. */
static bool leads_to(struct walk *walk, const struct call *call,
                     uint64_t function)
{
    if (call->kind != CALL_DIRECT || function == 0 || call->target == function)
        return call->kind != CALL_NONE;
    return goes_on_to(walk, call->target, function);
}

/* The nearest word that a call of this function has left. */
static enum step scan(struct walk *walk)
{
    struct state *at = &walk->at;
    uint64_t function = 0, value;

    walk_function(walk->unwinder, at->ip - !at->innermost, &function);
    for (unsigned i = 0; i < SCANNED_WORDS; ++i) {
        struct call call;

        if (!walk_word(walk, at->sp + i * at->word, &value))
            break;
        call = call_before(walk, value);
        if (leads_to(walk, &call, function)) {
            at->ip = value;
            at->sp += (i + 1) * at->word;
            return STEP_UP;
        }
    }
    return STEP_OUTERMOST;
}

void walk_forget(struct unwinder *unwinder)
{
    index_free(&unwinder->calls);
    index_free(&unwinder->functions);
    index_free(&unwinder->jumps);
    free(unwinder->call_list);
    free(unwinder->sets_frame);
    free(unwinder->jump_list);
    unwinder->calls = unwinder->functions = unwinder->jumps = (struct index){0};
    unwinder->call_list = NULL;
    unwinder->sets_frame = unwinder->jump_list = NULL;
    unwinder->changes = unwinder->places.changes;
}

enum step walk_by_scan(struct walk *walk, bool *known)
{
    struct state *at = &walk->at;
    const struct place *place = places_at(&walk->unwinder->places, at->ip);
    struct unwind_stack *stack = walk->stack;
    enum step step;

    *known = place != NULL && !place->code->keeps_frames &&
             place->code->cfi == NULL &&
             !sets_frame(walk, at->ip - !at->innermost);
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
