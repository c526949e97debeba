/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_STACKS_H
#define PROF_TRACE_STACKS_H

/* The stacks at which objects were suspended (prof.trace_stacks). Each distinct
 * stack is stored once, outside the ring, and gets a number from 1 on, which a
 * record mentions. None is ever forgotten. Without room for a new one, or where
 * an interrupt suspends in the middle of a call to here, a suspend has no
 * stack, and is counted. Each CPU has stacks of its own; in the stream their
 * numbers are different ones (encode.c). */

#include "trace/recorder.h"

#include <prof/config.h>
#include <prof/trace.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_TRACE_STACKS_BYTES_MIN 2048u

/* A stack. The return addresses are offsets into the image's code, the
 * innermost first. */
struct prof_trace_stack {
    uint32_t notes[2]; /* of the stream and of dumps: see interning.h */
    uint32_t count;
    uint32_t offsets[];
};

struct prof_trace_stacks {
    uint32_t depth; /* return addresses that a stack may have, 0 = no stacks */
    uint32_t busy;
    uintptr_t text_begin; /* the image's code */
    uint32_t text_bytes;
    uint32_t room;   /* for so many stacks */
    uint32_t count;  /* of these known */
    uint32_t *begin; /* by number - 1: where it is in (words) */
    uint16_t *slots; /* numbers, by hash; 0 = free */
    uint32_t slots_mask;
    uint32_t *words;
    uint32_t words_room;
    uint32_t words_used;
    uint32_t lost; /* suspends without a stack */
};

extern struct prof_trace_stacks prof_trace_stacks[PROF_CPUS_MAX];

/* Those of (cpu), which has a ring. */
static inline struct prof_trace_stacks *
prof_trace_stacks_of(const struct prof_trace_cpu *cpu)
{
    return &prof_trace_stacks[prof_trace_cpu_number(cpu)];
}

/* Takes over (bytes) of (memory), aligned to 4, divided by the CPUs that may
 * join. The image's code is at [text_begin, text_end). No stacks are recorded
 * if (depth) is 0 or memory too small. Contexts: thread, nothing is
 * recorded. */
void prof_trace_stacks_open(void *memory, size_t bytes, uintptr_t text_begin,
                            uintptr_t text_end, uint32_t depth);

/* No stack was defined: for the stream (number 0) or the dumps (1). Contexts:
 * thread, panic. */
void prof_trace_stacks_forget(uint32_t number);

/* The number of the stack of (caller), an address that is returned to, and the
 * callers found from (frame) on; 0, and counted: it has none. Contexts: any. */
uint32_t prof_trace_stack_from(uintptr_t caller, uintptr_t frame);

/* prof_trace_suspend(), which returns to (caller), with the stack from there
 * on; without one if this is the event loop, or no stacks are recorded.
 * Contexts: any. */
PROF_TRACE_CALL void prof_trace_put_stack(struct prof_trace_name *why,
                                          uintptr_t caller);

/* Stack (number), which exists. */
static inline struct prof_trace_stack *
prof_trace_stack_at(const struct prof_trace_stacks *stacks, uint32_t number)
{
    return (void *)(stacks->words + stacks->begin[number - 1]);
}

#endif
