/* SPDX-License-Identifier: Apache-2.0 */
/* From a stopped CPU's registers to its callers, a frame at a time. */

#include "unwind/walk.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>

#define FRAME_BYTES_MAX (1u << 20)
#define HLT 0xf4
#define RET 0xc3
#define RET_BYTES 0xc2 /* and takes arguments off the stack */
#define PUSH_FP 0x55
#define ENDBR_BYTES 4u
#define CALL 0xe8
#define CALL_BYTES 5u /* with the distance to its target */
#define SEARCHED_WORDS 32

struct unwinder *unwind_open(const struct image *image)
{
    struct unwinder *unwinder = xreallocarray(NULL, 1, sizeof *unwinder);

    *unwinder = (struct unwinder){0};
    places_open(&unwinder->places, image);
    return unwinder;
}

/* The byte of code at (address), -1 if it is not known. */
static int code(const struct unwinder *unwinder, uint64_t address)
{
    const struct place *place = places_at(&unwinder->places, address);

    return place != NULL ? code_byte(place->code, address - place->slide) : -1;
}

static bool is_code(const struct unwinder *unwinder, uint64_t address)
{
    return unwinder->places.code_count == 0 ||
           places_at(&unwinder->places, address) != NULL;
}

/* (address) of the guest as in a trace; (place) is its. */
static uint64_t traced(const struct place *place, uint64_t address)
{
    return address - place->slide + place->code->image->moved;
}

const struct image_symbol *walk_symbol(const struct unwinder *unwinder,
                                       uint64_t address)
{
    const struct place *place = places_at(&unwinder->places, address);

    return place != NULL
               ? image_function(place->code->image, traced(place, address))
               : NULL;
}

bool walk_function(const struct unwinder *unwinder, uint64_t address,
                   uint64_t *start)
{
    const struct image_symbol *symbol = walk_symbol(unwinder, address);

    if (symbol == NULL)
        return false;
    *start = symbol->start - traced(places_at(&unwinder->places, address), 0);
    return true;
}

bool walk_word(struct walk *walk, uint64_t address, uint64_t *value)
{
    struct unwind_stack *stack = walk->stack;
    unsigned word = walk->at.word;

    if (word == 4)
        address &= UINT32_MAX;
    if (!walk->memory->word(walk->memory->owner, address, word, value))
        return false;
    if (stack->highest == 0 || address < stack->lowest)
        stack->lowest = address;
    if (checked_add(address, word) > stack->highest)
        stack->highest = checked_add(address, word);
    return true;
}

/* Whether a frame may end at (top), which is above what was read. */
static enum step check_top(const struct state *at, uint64_t top)
{
    if (top % at->word != 0)
        return STEP_UNALIGNED;
    if (top <= at->sp)
        return STEP_FALLING;
    return top - at->sp > FRAME_BYTES_MAX ? STEP_OUTSIDE : STEP_UP;
}

/* One step by a rule; (*known) is false if there is none. */
static enum step step_by_rule(struct walk *walk, bool *known)
{
    struct state *at = &walk->at;
    const struct place *place = places_at(&walk->unwinder->places, at->ip);
    struct cfi_rule rule = {0};
    uint64_t top, ip, fp = at->fp;
    enum step step;

    if (place != NULL && place->code->cfi != NULL)
        rule = cfi_find(place->code->cfi,
                        at->ip - place->slide - (at->innermost ? 0 : 1));
    *known = rule.kind != CFI_UNKNOWN;
    if (rule.kind == CFI_OUTERMOST || !*known)
        return STEP_OUTERMOST;
    top = checked_offset(rule.kind == CFI_SP ? at->sp : at->fp, rule.base);
    step = check_top(at, top);
    if (step != STEP_UP)
        return step;
    if (!walk_word(walk, checked_offset(top, rule.address), &ip) ||
        (rule.saves_fp && !walk_word(walk, checked_offset(top, rule.fp), &fp)))
        return STEP_UNREADABLE;
    at->ip = ip;
    at->fp = fp;
    at->sp = top;
    return STEP_UP;
}

/* Whether the instruction before (address) calls (function). */
static bool is_call_of(const struct unwinder *unwinder, uint64_t address,
                       uint64_t function)
{
    uint32_t distance = 0;

    if (code(unwinder, address - CALL_BYTES) != CALL)
        return false;
    for (unsigned i = 1; i < CALL_BYTES; ++i)
        distance |= (uint32_t)code(unwinder, address - i)
                    << (8 * (CALL_BYTES - 1 - i));
    return (uint32_t)(address + distance) == (uint32_t)function;
}

/* A function without a frame: the first word from the stack pointer on that
 * was pushed by a call of it, unless that is above the frame pointer. -1 if
 * there is none. */
static int search_words(struct walk *walk, uint64_t function)
{
    const struct state *at = &walk->at;

    for (int i = 0; i < SEARCHED_WORDS; ++i) {
        uint64_t place = at->sp + (unsigned)i * at->word, value;

        if (place == at->fp || !walk_word(walk, place, &value))
            return -1;
        if (is_call_of(walk->unwinder, value, function))
            return i;
    }
    return -1;
}

/* Words from the stack pointer to the return address where the frame is not
 * set up; -1 if it seems to be. */
static int words_above(struct walk *walk)
{
    const struct unwinder *unwinder = walk->unwinder;
    uint64_t ip = walk->at.ip, function;
    int byte = code(unwinder, ip);

    if (byte == RET || byte == RET_BYTES)
        return 0;
    if (!walk_function(unwinder, ip, &function))
        return -1;
    if (ip - function <= ENDBR_BYTES + 1) {
        if (ip == function || byte == PUSH_FP)
            return 0;
        if (code(unwinder, ip - 1) == PUSH_FP)
            return 1;
    }
    if (code(unwinder, function) == PUSH_FP ||
        code(unwinder, function + ENDBR_BYTES) == PUSH_FP || byte < 0)
        return -1;
    return search_words(walk, function);
}

static enum step step_by_code(struct walk *walk, bool *known)
{
    struct state *at = &walk->at;
    int words = at->innermost ? words_above(walk) : -1;
    uint64_t ip;

    *known = words >= 0;
    if (!*known)
        return STEP_OUTERMOST;
    if (!walk_word(walk, at->sp + (unsigned)words * at->word, &ip))
        return STEP_UNREADABLE;
    at->ip = ip;
    at->sp += ((unsigned)words + 1) * at->word;
    return STEP_UP;
}

static enum step step_by_frame(struct walk *walk)
{
    struct state *at = &walk->at;
    uint64_t ip, fp;
    enum step step;

    if (at->fp == 0)
        return STEP_OUTERMOST;
    if (at->fp < at->sp)
        return at->innermost ? STEP_OUTSIDE : STEP_FALLING;
    step = check_top(at, checked_add(at->fp, 2 * at->word));
    if (step != STEP_UP)
        return step;
    if (!walk_word(walk, at->fp, &fp) ||
        !walk_word(walk, at->fp + at->word, &ip))
        return STEP_UNREADABLE;
    at->sp = at->fp + 2 * at->word;
    at->ip = ip;
    at->fp = fp;
    return STEP_UP;
}

static enum step step_up(struct walk *walk)
{
    bool known;
    enum step step = step_by_rule(walk, &known);

    if (!known)
        step = step_by_code(walk, &known);
    if (!known)
        step = walk_by_scan(walk, &known);
    if (!known)
        step = step_by_frame(walk);
    walk->at.innermost = false;
    return step;
}

static const enum prof_walk_stop reasons[] = {
    [STEP_UNALIGNED] = PROF_WALK_UNALIGNED,
    [STEP_OUTSIDE] = PROF_WALK_OUTSIDE,
    [STEP_FALLING] = PROF_WALK_FALLING,
    [STEP_UNREADABLE] = PROF_WALK_OUTSIDE,
};

void unwind_walk(struct unwinder *unwinder, const struct registers *registers,
                 const struct unwind_memory *memory, unsigned depth,
                 struct unwind_stack *stack)
{
    struct walk walk = {unwinder,
                        memory,
                        stack,
                        {registers->ip, registers->sp, registers->fp,
                         registers->mode == MODE_64 ? 8 : 4, true}};

    if (unwinder->changes != unwinder->places.changes)
        walk_forget(unwinder);
    stack->count = 1;
    stack->scanned = false;
    stack->addresses[0] = places_traced(&unwinder->places, registers->ip);
    stack->lowest = stack->highest = 0;
    stack->stopped = 0;
    if (registers->mode == MODE_REAL)
        return;
    for (;;) {
        enum step step = step_up(&walk);

        if (step != STEP_UP) {
            stack->stopped = reasons[step];
            return;
        }
        if (walk.at.ip == 0)
            return;
        if (!is_code(unwinder, walk.at.ip)) {
            stack->stopped = PROF_WALK_NOT_CODE;
            return;
        }
        if (stack->count > depth || stack->count == UNWIND_FRAMES_MAX) {
            stack->stopped = PROF_WALK_DEPTH;
            return;
        }
        stack->addresses[stack->count++] =
            places_traced(&unwinder->places, walk.at.ip);
    }
}

int unwind_after_halt(struct unwinder *unwinder, uint64_t address)
{
    int byte = code(unwinder, address - 1);

    return byte < 0 ? -1 : byte == HLT;
}

struct places *unwind_places(struct unwinder *unwinder)
{
    return &unwinder->places;
}

void unwind_close(struct unwinder *unwinder)
{
    places_close(&unwinder->places);
    walk_forget(unwinder);
    free(unwinder);
}
