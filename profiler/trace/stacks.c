/* SPDX-License-Identifier: Apache-2.0 */

/* The walk at a suspend, and the table of stacks; see stacks.h. */

#include "trace/stacks.h"

#include "sample/cpu_state.h"
#include "sample/cpus.h"
#include "trace/names.h"
#include "trace/objects.h"
#include "trace/recorder.h"

#include <prof/format.h>
#include <prof/frame.h>
#include <prof/origin.h>

#define PROBES 8u
#define ROOM_MAX 32768u
#define TYPICAL_BYTES 64u /* of a stack, with its place in the tables */
#define HEAD_WORDS                                                             \
    ((uint32_t)(sizeof(struct prof_trace_stack) / sizeof(uint32_t)))

struct prof_trace_stacks prof_trace_stacks[PROF_CPUS_MAX];

static void open_stacks(struct prof_trace_stacks *stacks, void *memory,
                        size_t bytes, uintptr_t text_begin, uintptr_t text_end,
                        uint32_t depth)
{
    uint32_t room = 1;

    *stacks = (struct prof_trace_stacks){.text_begin = text_begin};
    if (bytes < PROF_TRACE_STACKS_BYTES_MIN ||
        text_end - text_begin > UINT32_MAX)
        return;
    while (room < ROOM_MAX >> PROF_OBJECTS_SHIFT &&
           (size_t)room * 2 * TYPICAL_BYTES <= bytes)
        room *= 2;
    stacks->text_bytes = (uint32_t)(text_end - text_begin);
    stacks->room = room;
    stacks->begin = memory;
    stacks->slots = (void *)(stacks->begin + room);
    stacks->slots_mask = 2 * room - 1;
    stacks->words = (void *)(stacks->slots + (size_t)room * 2);
    stacks->words_room = (uint32_t)(bytes / sizeof(uint32_t)) - 2 * room;
    for (uint32_t i = 0; i < 2 * room; i++)
        stacks->slots[i] = 0;
    stacks->depth =
        depth < PROF_SUSPEND_DEPTH_MAX ? depth : PROF_SUSPEND_DEPTH_MAX;
}

void prof_trace_stacks_open(void *memory, size_t bytes, uintptr_t text_begin,
                            uintptr_t text_end, uint32_t depth)
{
    uint32_t count = prof_cpu_count();
    size_t each = bytes;

#if PROF_CPUS_MAX > 1
    each =
        (size_t)prof_divide(bytes, count) / PROF_CACHE_LINE * PROF_CACHE_LINE;
#endif
    for (uint32_t i = 0; i < count; i++)
        open_stacks(&prof_trace_stacks[i], (char *)memory + i * each, each,
                    text_begin, text_end, depth);
}

static void forget_stacks(const struct prof_trace_stacks *stacks,
                          uint32_t number)
{
    for (uint32_t i = 1; i <= stacks->count; i++)
        prof_trace_stack_at(stacks, i)->notes[number] = 0;
}

void prof_trace_stacks_forget(uint32_t number)
{
    for (uint32_t i = 0; i < prof_cpu_count(); i++)
        forget_stacks(&prof_trace_stacks[i], number);
}

/* The return addresses of a walk, and their hash. */
struct walk {
    uint32_t count;
    uint32_t sum;
    uint32_t offsets[PROF_SUSPEND_DEPTH_MAX];
};

#define HASH_FACTOR 0x9e3779b1u

/* Stores (caller) and the return addresses that (frames) has, as offsets. */
static void walk_from(const struct prof_trace_stacks *stacks, struct walk *walk,
                      uintptr_t caller, struct prof_frame_walk frames)
{
    const uintptr_t text = stacks->text_begin;
    const uint32_t bytes = stacks->text_bytes, depth = stacks->depth;
    uint32_t count = 0, sum = 0;

    do {
        uintptr_t offset = caller - text;

        if (offset >= bytes)
            break;
        offset += prof_origin(caller) - caller;
        sum = (sum ^ (uint32_t)offset) * HASH_FACTOR;
        walk->offsets[count++] = (uint32_t)offset;
    } while (count < depth && prof_frame_step(&frames, &caller));
    walk->count = count;
    walk->sum = sum ^ sum >> 15;
}

/* Whether what returns to (caller) has a frame of its own is up to the
 * compiler: then the walk begins with the frame after that. */
static void walk_over(const struct prof_trace_stacks *stacks, struct walk *walk,
                      uintptr_t caller, uintptr_t frame)
{
    const struct prof_stack_bounds *bounds = prof_cpu_here()->stack;
    struct prof_frame_walk frames;
    uintptr_t first;

    walk->count = 0;
    if (bounds == NULL || bounds->last_frame == 0)
        return;
    frames = (struct prof_frame_walk){frame, bounds->begin,
                                      bounds->last_frame * sizeof frame};
    if (prof_frame_step(&frames, &first) && first != caller)
        frames.fp = frames.begin = frame;
    walk_from(stacks, walk, caller, frames);
}

static bool is_same_stack(const struct prof_trace_stack *stack,
                          const struct walk *walk)
{
    uint32_t at = 0;

    if (stack->count != walk->count)
        return false;
    while (at < walk->count && stack->offsets[at] == walk->offsets[at])
        at++;
    return at == walk->count;
}

static uint32_t add_stack(struct prof_trace_stacks *stacks,
                          const struct walk *walk)
{
    struct prof_trace_stack *stack;

    if (stacks->count == stacks->room ||
        stacks->words_room - stacks->words_used < HEAD_WORDS + walk->count)
        return 0;
    stacks->begin[stacks->count++] = stacks->words_used;
    stacks->words_used += HEAD_WORDS + walk->count;
    stack = prof_trace_stack_at(stacks, stacks->count);
    stack->notes[0] = stack->notes[1] = 0;
    stack->count = walk->count;
    for (uint32_t i = 0; i < walk->count; i++)
        stack->offsets[i] = walk->offsets[i];
    return stacks->count;
}

static uint32_t intern_stack(struct prof_trace_stacks *stacks,
                             const struct walk *walk)
{
    uint32_t at = walk->sum;

    for (uint32_t probe = 0; probe < PROBES; probe++, at++) {
        uint16_t *slot = &stacks->slots[at & stacks->slots_mask];

        if (*slot == 0)
            return *slot = (uint16_t)add_stack(stacks, walk);
        if (is_same_stack(prof_trace_stack_at(stacks, *slot), walk))
            return *slot;
    }
    return 0;
}

uint32_t prof_trace_stack_from(uintptr_t caller, uintptr_t frame)
{
    struct prof_trace_stacks *stacks =
        prof_trace_stacks_of(prof_trace_cpu_here());
    struct walk walk;
    uint32_t number = 0;

    if (stacks->busy == 0) {
        stacks->busy = 1;
        PROF_TRACE_ORDERED();
        walk_over(stacks, &walk, caller, frame);
        if (walk.count > 0)
            number = intern_stack(stacks, &walk);
        PROF_TRACE_ORDERED();
        stacks->busy = 0;
    }
    stacks->lost += number == 0;
    return number;
}

PROF_TRACE_CALL void prof_trace_put_stack(struct prof_trace_name *why,
                                          uintptr_t caller)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    struct prof_trace_cpu *cpu = prof_trace_cpu_here();
    uint32_t tag = __atomic_load_n(&why->tag, __ATOMIC_RELAXED);
    uint32_t stack = 0;

    if (!prof_trace_has_ring(cpu))
        return;
    if (tag == 0)
        tag = prof_names_tag(why);
    if (prof_trace_stacks_of(cpu)->depth != 0 &&
        cpu->current != PROF_TRACE_NONE)
        stack = prof_trace_stack_from(caller, *frame);
    prof_trace_store(cpu, PROF_TRACE_DID_SUSPEND | tag, stack, 0, 0);
}
