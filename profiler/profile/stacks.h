/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STACKS_H
#define PROF_STACKS_H

/*
 * The stack tree: every distinct call stack, outermost caller first, with the
 * samples taken in it. The drain counts here, and the stream sends these nodes;
 * all other figures of the report are sums over the tree (sums.h).
 */

#include "profile/amount.h"
#include "profile/table.h"
#include "sample/frames.h"

#include <stdbool.h>
#include <stdint.h>

/* The largest number of addresses in a stack: return addresses from frames, one
 * of a function without a frame, and the sampled address. */
#define PROF_STACK_MAX (PROF_DEPTH_MAX + 2)

/* A stack is its caller's stack, the parent, and one address more. */
struct prof_stack {
    struct prof_record record; /* key: the address; link: its call (calls.h) */
    struct prof_amount self;   /* samples of exactly this stack */
    uint64_t first_tsc;        /* when the first and the last were taken */
    uint64_t last_tsc;
    uint32_t address; /* number of the address (addresses.h), 0 until sampled */
    uint32_t emitted; /* for the stream: when it was last defined (stream.h) */
};

extern struct prof_table prof_stacks;

/* The stack (number), which exists. Valid until the next add. */
static inline struct prof_stack *prof_stack_at(uint32_t number)
{
    return PROF_TABLE_AT(&prof_stacks, struct prof_stack, number);
}

/* One sample's addresses, as in the frame vector (frames.h). */
struct prof_chain {
    uintptr_t pc;
    uint32_t function;     /* number of the function of pc */
    uintptr_t caller;      /* not found by frame pointers; 0 = none */
    const uint32_t *words; /* return addresses, innermost first */
    uint32_t count;
};

/* Creates an empty tree, and the tables that it refers to: addresses, functions
 * and calls. Contexts: boot. */
void prof_stacks_open(void);

/* The number of the stack (chain). Creates it if it is new; 0: no memory.
 * Contexts: the drain. */
uint32_t prof_stack_of(const struct prof_chain *chain);

/* The callback through which the stream reads stack (number) (stream.h). */
struct prof_stream_node;
bool prof_stacks_find(uint32_t number, struct prof_stream_node *found);

/* Adds (samples) that cover (cycles), the last of them taken at (tsc), to
 * (stack). */
void prof_stack_credit(struct prof_stack *stack, uint64_t samples,
                       uint64_t cycles, uint64_t tsc);

/* Sets all samples to 0; stacks keep their numbers. Contexts: thread. */
void prof_stacks_clear(void);

#endif
