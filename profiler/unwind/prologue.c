/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Prologue analysis: follows the stack pointer from the function's first
 * instruction along every path that has not yet set up a frame, until it
 * reaches the interrupted instruction. A path is abandoned where it sets up a
 * frame, so in most functions a handful of instructions is all that is decoded.
 *
 * Code after the set-up has a frame, except at the end of an epilogue. So the
 * instructions after pc are decoded, too: if the function returns without
 * restoring the frame pointer, it has already been restored. An indirect jump
 * may stay in the function, with its frame, or be a tail call, without it. Only
 * in that case are paths followed a second time, through their frames.
 */

#include "unwind/prologue.h"

#include "unwind/decode.h"

#include <stdbool.h>

#define PATHS_MAX 32   /* further paths are ignored */
#define STEPS_MAX 1024 /* instructions decoded, all paths together */
#define LOOK_AHEAD 24 /* instructions after pc that are searched for a return */

/* The same for a jump out of the function. Fewer, because it may be a tail call
 * or go to the cold part of this function, which still has the frame. */
#define EPILOGUE_MAX 8

/* A path: at (begin) the return address is (bytes) above sp. */
struct path {
    uintptr_t begin;
    uintptr_t end; /* how far it was followed */
    intptr_t bytes;
    bool framed; /* its frame is set up: the frame pointer finds the caller */
};

struct search {
    uintptr_t pc;
    struct prof_range function;
    uintptr_t readable; /* instructions may begin below this address */
    struct path paths[PATHS_MAX];
    uint32_t known; /* number of paths */
    uint32_t steps; /* instructions decoded so far */
    bool through;   /* paths are followed through frames */
    bool ends;      /* returns() met a jump with an unknown target */
    bool found;     /* pc was reached */
    struct path to; /* the path that reached it, with its state at pc */
};

static bool inside(const struct search *search, uintptr_t address)
{
    return address >= search->function.begin &&
           address < search->function.end && address < search->readable;
}

/* Adds a path that begins at (begin), unless it is known. */
static void note(struct search *search, uintptr_t begin,
                 const struct path *path)
{
    if (!inside(search, begin) || search->known == PATHS_MAX)
        return;
    for (uint32_t i = 0; i < search->known; i++)
        if (begin == search->paths[i].begin ||
            (begin > search->paths[i].begin && begin < search->paths[i].end))
            return;
    search->paths[search->known++] =
        (struct path){begin, begin, path->bytes, path->framed};
}

/* Steps over an instruction on a path without a frame. False: the path ends
 * here. */
static bool step_stack(const struct search *search,
                       const struct prof_instruction *instruction,
                       struct path *path)
{
    switch (instruction->effect) {
    case PROF_EFFECT_SP:
    case PROF_EFFECT_PUSH_FP:
    case PROF_EFFECT_POP_FP:
        path->bytes -= instruction->value;
        return path->bytes >= 0;
    case PROF_EFFECT_SET_FP:
        path->framed = true;
        return search->through;
    default:
        return instruction->effect == PROF_EFFECT_OTHER;
    }
}

/* The same on a path with a frame, which ends where the frame pointer is
 * restored: the return address comes next. */
static bool step_framed(const struct prof_instruction *instruction,
                        struct path *path)
{
    if (instruction->effect == PROF_EFFECT_LEAVE ||
        instruction->effect == PROF_EFFECT_POP_FP) {
        path->framed = false;
        path->bytes = 0;
    }
    return instruction->effect != PROF_EFFECT_RETURN &&
           instruction->effect != PROF_EFFECT_END;
}

/* Steps over (instruction) at (at). False: the path ends here. */
static bool step(struct search *search, uintptr_t at,
                 const struct prof_instruction *instruction, struct path *path)
{
    if (instruction->effect == PROF_EFFECT_BRANCH ||
        instruction->effect == PROF_EFFECT_JUMP) {
        note(search, at + (uintptr_t)instruction->value, path);
        return instruction->effect == PROF_EFFECT_BRANCH;
    }
    return path->framed ? step_framed(instruction, path)
                        : step_stack(search, instruction, path);
}

/* Follows one path to its end, to the beginning of another, or to pc. */
static void follow(struct search *search, uint32_t number)
{
    struct path path = search->paths[number];
    uintptr_t at = path.begin;

    while (inside(search, at) && search->steps < STEPS_MAX) {
        struct prof_instruction instruction;

        if (at == search->pc) {
            search->found = true;
            search->to = path;
            return;
        }
        instruction = prof_decode((const uint8_t *)at);
        search->steps++;
        if (instruction.length == 0 || !step(search, at, &instruction, &path))
            break;
        at += instruction.length;
        for (uint32_t i = 0; i < number; i++)
            if (search->paths[i].begin == at)
                return;
    }
    search->paths[number].end = at + 1;
}

/* Follows all paths from the function's first instruction until pc is found. */
static void follow_all(struct search *search, bool through)
{
    static const struct path entered;

    search->known = search->steps = 0;
    search->through = through;
    note(search, search->function.begin, &entered);
    for (uint32_t i = 0; i < search->known && !search->found; i++)
        follow(search, i);
}

/* Whether the function returns soon after pc without changing the frame
 * pointer, and if so, how far above sp the return address is. */
static bool returns(struct search *search, intptr_t *bytes)
{
    uintptr_t at = search->pc;

    *bytes = 0;
    for (int i = 0; i < LOOK_AHEAD && inside(search, at); i++) {
        struct prof_instruction instruction = prof_decode((const uint8_t *)at);
        uintptr_t target = at + (uintptr_t)instruction.value;

        if (instruction.length == 0)
            return false;
        if (instruction.effect == PROF_EFFECT_RETURN ||
            (instruction.effect == PROF_EFFECT_JUMP &&
             !inside(search, target) && i < EPILOGUE_MAX))
            return true;
        if (instruction.effect == PROF_EFFECT_SP)
            *bytes += instruction.value;
        else if (instruction.effect == PROF_EFFECT_JUMP)
            at = target - instruction.length;
        else if (instruction.effect != PROF_EFFECT_OTHER &&
                 instruction.effect != PROF_EFFECT_BRANCH) {
            search->ends = instruction.effect == PROF_EFFECT_END;
            return false;
        }
        at += instruction.length;
    }
    return false;
}

/* For a pc that no path without a frame reaches: whether its frame is already
 * torn down, and if so, how far above sp the return address is. */
static bool is_past_frame(struct search *search, intptr_t *bytes)
{
    if (returns(search, bytes))
        return true;
    if (!search->ends)
        return false;
    follow_all(search, true);
    *bytes = search->to.bytes;
    return search->found && !search->to.framed;
}

uint32_t prof_prologue_caller(uintptr_t pc, const struct prof_range *function,
                              const struct prof_range *text)
{
    struct search search = {.pc = pc, .function = *function};
    intptr_t bytes;

    if (text->end - text->begin < PROF_INSTRUCTION_BYTES_MAX ||
        function->begin < text->begin || pc < function->begin)
        return PROF_PROLOGUE_FRAME;
    search.readable = text->end - PROF_INSTRUCTION_BYTES_MAX + 1;
    if (pc == function->begin)
        return 0;
    follow_all(&search, false);
    bytes = search.to.bytes;
    if (!search.found && !is_past_frame(&search, &bytes))
        return PROF_PROLOGUE_FRAME;
    if (bytes < 0 || bytes % (intptr_t)sizeof(uintptr_t) != 0)
        return PROF_PROLOGUE_FRAME;
    return (uint32_t)(bytes / (intptr_t)sizeof(uintptr_t));
}
