/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Follows the stack pointer from a function's beginning along every way that
 * has not yet set up a frame, until it comes to the instruction in question.
 * Where a way sets up a frame it is left, so that in most functions a handful
 * of instructions is all that is looked at.
 *
 * What lies behind the set-up has a frame, but for the end of an epilogue. So
 * the next instructions are looked at, too: where the function returns without
 * having restored the frame pointer, it has done so before. A jump through a
 * register or a table may go on in the function, with its frame, or to another
 * one, without: only there ways are followed again, through their frames.
 */

#include "caller.h"

#include "code.h"

#include <stdbool.h>

#define WAYS_MAX 32    /* beginnings of ways that are kept in mind */
#define STEPS_MAX 1024 /* instructions followed, all ways together */
#define LOOK_AHEAD 24  /* instructions behind pc, where it may return */

/* The same where it may go on as another function: the cold part of one is
 * another, too, and has its frame. */
#define EPILOGUE_MAX 8

/* A way: from (begin) on, the return address is (bytes) above sp. */
struct way {
    uintptr_t begin;
    uintptr_t end; /* how far it was followed */
    intptr_t bytes;
    bool framed; /* no: that is where the frame pointer says */
};

struct search {
    uintptr_t pc;
    struct prof_range function;
    uintptr_t readable; /* instructions may begin below this */
    struct way ways[WAYS_MAX];
    uint32_t known; /* ways */
    uint32_t steps; /* instructions followed so far */
    bool through;   /* ways are followed through frames */
    bool ends;      /* returns() has met what leads nobody knows where */
    bool found;     /* pc was reached, on: */
    struct way to;  /* with (bytes) and (framed) as they are there */
};

static bool inside(const struct search *search, uintptr_t address)
{
    return address >= search->function.begin &&
           address < search->function.end && address < search->readable;
}

/* Notes a way that begins at (begin), unless it is known. */
static void note(struct search *search, uintptr_t begin, const struct way *way)
{
    if (!inside(search, begin) || search->known == WAYS_MAX)
        return;
    for (uint32_t i = 0; i < search->known; i++)
        if (begin == search->ways[i].begin ||
            (begin > search->ways[i].begin && begin < search->ways[i].end))
            return;
    search->ways[search->known++] =
        (struct way){begin, begin, way->bytes, way->framed};
}

/* Goes over an instruction that changes the stack, on a way without a frame.
 * False: the way ends here. */
static bool step_stack(const struct search *search,
                       const struct prof_code *code, struct way *way)
{
    switch (code->kind) {
    case PROF_CODE_SP:
    case PROF_CODE_PUSH_FP:
    case PROF_CODE_POP_FP:
        way->bytes -= code->value;
        return way->bytes >= 0;
    case PROF_CODE_SET_FP:
        way->framed = true;
        return search->through;
    default:
        return code->kind == PROF_CODE_OTHER;
    }
}

/* The same on one with a frame, which gives it up where it restores the frame
 * pointer: the return address comes next. */
static bool step_framed(const struct prof_code *code, struct way *way)
{
    if (code->kind == PROF_CODE_LEAVE || code->kind == PROF_CODE_POP_FP) {
        way->framed = false;
        way->bytes = 0;
    }
    return code->kind != PROF_CODE_RETURN && code->kind != PROF_CODE_END;
}

/* Goes over (code) at (at). False: the way ends here. */
static bool step(struct search *search, uintptr_t at,
                 const struct prof_code *code, struct way *way)
{
    if (code->kind == PROF_CODE_BRANCH || code->kind == PROF_CODE_JUMP) {
        note(search, at + (uintptr_t)code->value, way);
        return code->kind == PROF_CODE_BRANCH;
    }
    return way->framed ? step_framed(code, way) : step_stack(search, code, way);
}

/* Follows one way to its end, or to the beginning of another, or to pc. */
static void follow(struct search *search, uint32_t number)
{
    struct way way = search->ways[number];
    uintptr_t at = way.begin;

    while (inside(search, at) && search->steps < STEPS_MAX) {
        struct prof_code code;

        if (at == search->pc) {
            search->found = true;
            search->to = way;
            return;
        }
        code = prof_code_at((const uint8_t *)at);
        search->steps++;
        if (code.length == 0 || !step(search, at, &code, &way))
            break;
        at += code.length;
        for (uint32_t i = 0; i < number; i++)
            if (search->ways[i].begin == at)
                return;
    }
    search->ways[number].end = at + 1;
}

/* Follows all ways from the function's beginning until pc is found. */
static void follow_all(struct search *search, bool through)
{
    static const struct way entered;

    search->known = search->steps = 0;
    search->through = through;
    note(search, search->function.begin, &entered);
    for (uint32_t i = 0; i < search->known && !search->found; i++)
        follow(search, i);
}

/* Whether the function returns soon behind pc with the frame pointer as it is,
 * and if so, how far above sp its return address lies. */
static bool returns(struct search *search, intptr_t *bytes)
{
    uintptr_t at = search->pc;

    *bytes = 0;
    for (int i = 0; i < LOOK_AHEAD && inside(search, at); i++) {
        struct prof_code code = prof_code_at((const uint8_t *)at);
        uintptr_t target = at + (uintptr_t)code.value;

        if (code.length == 0)
            return false;
        if (code.kind == PROF_CODE_RETURN ||
            (code.kind == PROF_CODE_JUMP && !inside(search, target) &&
             i < EPILOGUE_MAX))
            return true;
        if (code.kind == PROF_CODE_SP)
            *bytes += code.value;
        else if (code.kind == PROF_CODE_JUMP)
            at = target - code.length;
        else if (code.kind != PROF_CODE_OTHER &&
                 code.kind != PROF_CODE_BRANCH) {
            search->ends = code.kind == PROF_CODE_END;
            return false;
        }
        at += code.length;
    }
    return false;
}

/* Where no way without a frame leads to pc: whether it has none all the same,
 * and if so, how far above sp its return address lies. */
static bool is_behind_frame(struct search *search, intptr_t *bytes)
{
    if (returns(search, bytes))
        return true;
    if (!search->ends)
        return false;
    follow_all(search, true);
    *bytes = search->to.bytes;
    return search->found && !search->to.framed;
}

uint32_t prof_caller_place(uintptr_t pc, const struct prof_range *function,
                           const struct prof_range *text)
{
    struct search search = {.pc = pc, .function = *function};
    intptr_t bytes;

    if (text->end - text->begin < PROF_CODE_BYTES_MAX ||
        function->begin < text->begin || pc < function->begin)
        return PROF_CALLER_FRAME;
    search.readable = text->end - PROF_CODE_BYTES_MAX + 1;
    if (pc == function->begin)
        return 0;
    follow_all(&search, false);
    bytes = search.to.bytes;
    if (!search.found && !is_behind_frame(&search, &bytes))
        return PROF_CALLER_FRAME;
    if (bytes < 0 || bytes % (intptr_t)sizeof(uintptr_t) != 0)
        return PROF_CALLER_FRAME;
    return (uint32_t)(bytes / (intptr_t)sizeof(uintptr_t));
}
