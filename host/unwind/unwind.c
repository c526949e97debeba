/* SPDX-License-Identifier: Apache-2.0 */
/* From a stopped CPU's registers to its callers, a frame at a time. */

#include "unwind/unwind.h"

#include "base/checked.h"
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
#define FRAME_BYTES_MAX (1u << 20)
#define HLT 0xf4
#define RET 0xc3
#define RET_BYTES 0xc2 /* and takes arguments off the stack */
#define PUSH_FP 0x55
#define ENDBR_BYTES 4u
#define SEARCHED_WORDS 32

/* The call before a return address. */
struct call {
    enum { CALL_NONE, CALL_DIRECT, CALL_INDIRECT } kind;
    uint64_t target;
};

/* The functions that one goes on to by a jump. */
struct jumps {
    uint64_t *targets;
    size_t count;
};

struct unwinder {
    struct places places;
    struct index calls; /* return addresses */
    struct call *call_list;
    struct index functions; /* where they begin */
    bool *sets_frame;       /* by number */
    struct index jumpers;   /* the same */
    struct jumps *jumps;    /* by number */
    unsigned changes;       /* of the places, when these were found */
};

struct state {
    uint64_t ip;
    uint64_t sp;
    uint64_t fp;
    unsigned word; /* bytes */
    bool innermost;
};

enum step {
    STEP_UP,
    STEP_OUTERMOST,
    STEP_UNALIGNED,
    STEP_OUTSIDE,
    STEP_FALLING,
    STEP_UNREADABLE,
};

struct walk {
    struct unwinder *unwinder;
    const struct unwind_memory *memory;
    struct unwind_stack *stack;
    struct state at;
};

/* (address) of the guest as in a trace; (place) is its. */
static uint64_t traced(const struct place *place, uint64_t address)
{
    return address - place->slide + place->code->image->moved;
}

static const struct image_symbol *walk_symbol(const struct unwinder *unwinder,
                                              uint64_t address)
{
    const struct place *place = places_at(&unwinder->places, address);

    return place != NULL
               ? image_function(place->code->image, traced(place, address))
               : NULL;
}

/* Its beginning; false if it is not known. */
static bool walk_function(const struct unwinder *unwinder, uint64_t address,
                          uint64_t *start)
{
    const struct image_symbol *symbol = walk_symbol(unwinder, address);

    if (symbol == NULL)
        return false;
    *start = symbol->start - traced(places_at(&unwinder->places, address), 0);
    return true;
}

static bool walk_word(struct walk *walk, uint64_t address, uint64_t *value)
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

/* ---- scans: words that calls have left, where nothing says how to find
 * callers */

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

/* Whether the function is a thunk for indirect calls, against speculation. */
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

/* Adds what the (count) bytes at (address), of (function), jump to. */
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
        VECTOR_ADD(jumps->targets, jumps->count, target);
    }
}

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

/* Whether (from) goes on to (to) by at most (most) jumps. */
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

static void walk_forget(struct unwinder *unwinder)
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

/* Goes up by a scan, in an image most of which has no frame pointers;
 * *(known) is false where that is not to be done. */
static enum step walk_by_scan(struct walk *walk, bool *known)
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

/* ---- walks */

struct unwinder *unwind_open(const struct image *image)
{
    struct unwinder *unwinder = xreallocarray(NULL, 1, sizeof *unwinder);

    *unwinder = (struct unwinder){0};
    places_open(&unwinder->places, image);
    return unwinder;
}

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

/* Without a frame: the first word from the stack pointer on that a call of the
 * function pushed, below the frame pointer; -1 if there is none. */
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

/* Words up to the return address without a frame; -1 if there seems one. */
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

bool unwind_after_call(struct unwinder *unwinder,
                       const struct unwind_memory *memory, uint64_t address)
{
    struct walk walk = {.unwinder = unwinder, .memory = memory};

    if (unwinder->changes != unwinder->places.changes)
        walk_forget(unwinder);
    return call_before(&walk, address).kind != CALL_NONE;
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
