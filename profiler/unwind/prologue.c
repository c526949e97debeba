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

/* How far before pc an epilogue may have restored the frame pointer, in whole
 * words: compilers move some of the last instructions in between. And the
 * opcodes that do it. */
#define RESTORED_BEFORE 64u
#define POP_FP 0x5d
#define LEAVE 0xc9

#define WIDE (sizeof(uintptr_t) == 8)

/* The usual first instructions, as bytes: endbr64 or endbr32, and then push of
 * the frame pointer and its set-up. */
#define ENDBR 0x1e0ff3u
#define ENDBR_MASK 0xffffffu
#define ENDBR_BYTES 4u
#ifdef __x86_64__
#define USUAL 0xe5894855u
#define USUAL_MASK UINT32_MAX
#define USUAL_BYTES 4u
#else
#define USUAL 0xe58955u
#define USUAL_MASK 0xffffffu
#define USUAL_BYTES 3u
#endif

static const struct prof_prologue_head *heads; /* the latest; NULL: none */

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
    uintptr_t distance; /* to where its first bytes are as they were */
    uintptr_t readable; /* instructions may begin below this address */
    uint32_t known;     /* number of paths */
    uint32_t steps;     /* instructions decoded so far */
    bool through;       /* paths are followed through frames */
    bool moved;         /* on some path the return address is not on top */
    bool lost;          /* some path ended where another may go on */
    bool ends;          /* returns() met a jump with an unknown target */
    bool found;         /* pc was reached */
    struct path to;     /* the path that reached it, with its state at pc */
    struct path paths[PATHS_MAX]; /* (known) of them are set */
};

uint32_t prof_prologue_steps;
uint32_t (*prof_prologue_known)(uintptr_t pc,
                                const struct prof_range *function);

static bool inside(const struct search *search, uintptr_t address)
{
    return address >= search->function.begin &&
           address < search->function.end && address < search->readable;
}

/* The instruction at (at), as it is when the function is not patched. */
static struct prof_instruction decode(const struct search *search, uintptr_t at)
{
    if (at - search->function.begin < PROF_PROLOGUE_PATCHED)
        at += search->distance;
    return prof_decode((const uint8_t *)at);
}

/* Adds a path that begins at (begin), unless it is known. */
static void note(struct search *search, uintptr_t begin,
                 const struct path *path)
{
    if (!inside(search, begin))
        return;
    for (uint32_t i = 0; i < search->known; i++)
        if (begin == search->paths[i].begin ||
            (begin > search->paths[i].begin && begin < search->paths[i].end))
            return;
    if (search->known == PATHS_MAX)
        search->lost = true;
    else
        search->paths[search->known++] =
            (struct path){begin, begin, path->bytes, path->framed};
}

/* Steps over an instruction on a path without a frame. False: the path ends
 * here. */
static bool step_stack(struct search *search,
                       const struct prof_instruction *instruction,
                       struct path *path)
{
    switch (instruction->effect) {
    case PROF_EFFECT_SP:
    case PROF_EFFECT_PUSH_FP:
    case PROF_EFFECT_POP_FP:
        path->bytes -= instruction->value;
        search->moved = true;
        search->lost |= path->bytes < 0;
        return path->bytes >= 0;
    case PROF_EFFECT_SET_FP:
        path->framed = search->moved = true;
        return search->through;
    case PROF_EFFECT_OTHER:
    case PROF_EFFECT_FRAMED:
    case PROF_EFFECT_CALL:
        return true;
    case PROF_EFFECT_RETURN:
        return false;
    default:
        search->lost = true;
        return false;
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
        instruction = decode(search, at);
        search->steps++;
        if (!step(search, at, &instruction, &path))
            break;
        at += instruction.length;
        for (uint32_t i = 0; i < number; i++)
            if (search->paths[i].begin == at)
                return;
    }
    search->paths[number].end = at + 1;
}

/* Follows all paths from the function's first instruction until pc is found or,
 * if (through), through their frames. */
static void follow_all(struct search *search, bool through)
{
    static const struct path entered;

    search->known = search->steps = 0;
    search->through = through;
    note(search, search->function.begin, &entered);
    for (uint32_t i = 0; i < search->known && !search->found; i++)
        follow(search, i);
    search->lost |= search->steps == STEPS_MAX;
    prof_prologue_steps += search->steps;
}

/* How far from the function's first instruction paths without a frame go, all
 * of which were followed. */
static uint32_t frameless_bytes(const struct search *search)
{
    uintptr_t end = search->function.begin;

    for (uint32_t i = 0; i < search->known; i++)
        if (search->paths[i].end > end)
            end = search->paths[i].end;
    return (uint32_t)(end - search->function.begin);
}

/* Whether one of the bytes of (word) is (byte). */
static bool has_byte(uintptr_t word, uintptr_t byte)
{
    const uintptr_t ones = UINTPTR_MAX / 255;
    uintptr_t zero_there = word ^ ones * byte;

    return ((zero_there - ones) & ~zero_there & ones * 128) != 0;
}

/* Whether the last bytes before pc, all within (text), may have an instruction
 * that restores the frame pointer: one of them is the opcode of pop or leave.
 * Those that may be patched are taken to be one. */
static bool may_restore(const struct search *search,
                        const struct prof_range *text)
{
    uintptr_t pc = search->pc;

    if (pc - text->begin < RESTORED_BEFORE ||
        (search->distance != 0 &&
         pc - search->function.begin < RESTORED_BEFORE + PROF_PROLOGUE_PATCHED))
        return true;
    for (uint32_t at = 0; at < RESTORED_BEFORE; at += sizeof(uintptr_t)) {
        uintptr_t word;

        __builtin_memcpy(&word, (const char *)pc - RESTORED_BEFORE + at,
                         sizeof word);
        if (has_byte(word, POP_FP) || has_byte(word, LEAVE))
            return true;
    }
    return false;
}

/* Whether an instruction of (effect) may be part of an epilogue after its frame
 * pointer is restored. No call is, and none that uses the frame, unless the
 * function has no frame at all. */
static bool goes_on(struct search *search, enum prof_effect effect)
{
    search->ends = effect == PROF_EFFECT_END;
    return effect == PROF_EFFECT_OTHER || effect == PROF_EFFECT_BRANCH ||
           ((effect == PROF_EFFECT_CALL || effect == PROF_EFFECT_FRAMED) &&
            search->lost);
}

/* Whether the function returns soon after pc without changing the frame
 * pointer, and if so, how far above sp the return address is. */
static bool returns(struct search *search, intptr_t *bytes)
{
    uintptr_t at = search->pc;

    *bytes = 0;
    for (int i = 0; i < LOOK_AHEAD && inside(search, at); i++) {
        struct prof_instruction instruction = decode(search, at);
        uintptr_t target = at + (uintptr_t)instruction.value;

        prof_prologue_steps++;
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
        else if (!goes_on(search, instruction.effect))
            return false;
        at += instruction.length;
    }
    return false;
}

/* For a pc that no path without a frame reaches: whether its frame is already
 * torn down, and if so, how far above sp the return address is. On i386, whose
 * code uses the frame more often, the search for a return is the shorter one.
 */
static bool is_past_frame(struct search *search, const struct prof_range *text,
                          intptr_t *bytes)
{
    if (WIDE && !search->lost && !may_restore(search, text))
        return false;
    if (returns(search, bytes))
        return true;
    if (!search->ends || (!search->lost && !may_restore(search, text)))
        return false;
    follow_all(search, true);
    *bytes = search->found ? search->to.bytes : 0;
    return search->found && !search->to.framed;
}

/* Where the frame has been set up, if the function begins with that, as most
 * do: `push fp; mov fp, sp`; else 0. */
static uint32_t usual_frame(uintptr_t head)
{
    uint32_t first, at = 0;

    __builtin_memcpy(&first, (const void *)head, sizeof first);
    if ((first & ENDBR_MASK) == ENDBR) {
        at = ENDBR_BYTES;
        __builtin_memcpy(&first, (const char *)head + at, sizeof first);
    }
    return (first & USUAL_MASK) == USUAL ? at + USUAL_BYTES : 0;
}

/* Begins a search in (function); pc is none of its addresses. False: it cannot
 * be read. */
static bool begin_search(struct search *search,
                         const struct prof_range *function,
                         const struct prof_range *text)
{
    search->pc = 0;
    search->function = *function;
    search->distance = 0;
    for (const struct prof_prologue_head *at = heads; at != NULL; at = at->next)
        if (at->begin == function->begin)
            search->distance = (uintptr_t)at->bytes - at->begin;
    search->readable = text->end - PROF_INSTRUCTION_BYTES_MAX + 1;
    search->lost = search->moved = search->ends = search->found = false;
    return function->begin - text->begin < text->end - text->begin &&
           inside(search, function->begin);
}

static uint32_t learn(struct search *search)
{
    uint32_t usual = usual_frame(search->function.begin + search->distance);

    if (usual != 0)
        return usual;
    follow_all(search, false);
    if (search->lost)
        return PROF_PROLOGUE_UNSURE;
    return search->moved ? frameless_bytes(search) : PROF_PROLOGUE_LEAF;
}

void prof_prologue_add(struct prof_prologue_head *head)
{
    __builtin_memcpy(head->bytes, (const void *)head->begin,
                     sizeof head->bytes);
    head->next = heads;
    __atomic_store_n(&heads, head, __ATOMIC_RELEASE);
}

uint32_t prof_prologue_learn(const struct prof_range *function,
                             const struct prof_range *text)
{
    struct search search;

    return begin_search(&search, function, text) ? learn(&search)
                                                 : PROF_PROLOGUE_UNSURE;
}

uint32_t prof_prologue_caller(uintptr_t pc, const struct prof_range *function,
                              const struct prof_range *text, uint32_t framed)
{
    struct search search;
    intptr_t bytes;

    if (!begin_search(&search, function, text) || !inside(&search, pc))
        return PROF_PROLOGUE_FRAME;
    if (framed == 0)
        framed = learn(&search);
    if (framed == PROF_PROLOGUE_LEAF)
        return 0;
    search.pc = pc;
    if (pc - function->begin < framed)
        follow_all(&search, false);
    if (search.found)
        bytes = search.to.bytes;
    else if (!is_past_frame(&search, text, &bytes))
        return PROF_PROLOGUE_FRAME;
    if (bytes < 0 || bytes % (intptr_t)sizeof(uintptr_t) != 0)
        return PROF_PROLOGUE_FRAME;
    return (uint32_t)(bytes / (intptr_t)sizeof(uintptr_t));
}
