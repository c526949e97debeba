/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STACKS_H
#define PROF_STACKS_H

/* The stack tree: every distinct call stack, outermost caller first, with the
 * samples taken in it. The drain counts here, and the stream sends these nodes;
 * all other figures are sums over the tree (sums.h). */

#include "aggregate/amount.h"
#include "aggregate/recent.h"
#include "aggregate/table.h"
#include "sample/frames.h"
#include "stream/stream.h"

#include <stdbool.h>
#include <stdint.h>

/* Most addresses in a stack: return addresses from frames, one of a function
 * without a frame, and the sampled address. */
#define PROF_STACK_MAX (PROF_DEPTH_MAX + 2)

/* A stack consists of its caller's stack, the parent, and one more address. */
struct prof_stack {
    struct prof_record record; /* key: the address; link: its call, or
                                  its function where there are none (calls.h) */
    uint32_t emitted; /* for the stream: when it was last defined (stream.h) */
    uint32_t class : 2;    /* that of the address (accounts.h) */
    uint32_t framed : 1;   /* the frame pointer finds the caller of the address,
                              so that samples of it below the parent are here */
    uint32_t address : 29; /* its number (addresses.h), 0 until sampled */
    struct prof_amount self; /* samples of exactly this stack */
    uint64_t first_tsc;      /* when the first and the last were taken */
    uint64_t last_tsc;
};

#define PROF_ADDRESS_MAX ((1u << 29) - 1) /* no table has more */
#define PROF_STACK_NUMBER_MAX PROF_ADDRESS_MAX

extern struct prof_table prof_stacks;

/* Returns the stack (number), which MUST exist. */
static inline struct prof_stack *prof_stack_at(uint32_t number)
{
    return PROF_TABLE_AT(&prof_stacks, struct prof_stack, number);
}

/* Creates an empty tree, and the tables that it refers to: addresses, functions
 * and calls. Contexts: boot. */
void prof_stacks_open(void);

#ifdef PROF_HOSTED
/* Frees memory besides the tables. */
void prof_stacks_forget(void);
#endif

/* Returns the hash slot of the stack of (address) called by the stack (parent),
 * which contains its number, or 0 if there is no such stack. Valid until the
 * next stack is created. */
static inline uint32_t *prof_stack_slot(uint32_t parent, uintptr_t address)
{
    return prof_table_slot(&prof_stacks, sizeof(struct prof_stack), parent,
                           address);
}

/* Returns the number of the stack in that (slot), after creating the stack if
 * it is new; 0: no memory. (address) is in (function) or, if that is 0, is a
 * return address. Contexts: the drain. */
uint32_t prof_stack_in(uint32_t *slot, uint32_t parent, uintptr_t address,
                       uint32_t function);

static inline uint32_t prof_stack_of(uint32_t parent, uintptr_t address,
                                     uint32_t function)
{
    return prof_stack_in(prof_stack_slot(parent, address), parent, address,
                         function);
}

/* Fills (callers) for a sample with (count) words at (frames): the words before
 * the first that is not code. Creates their stack if it is new. Returns false
 * if there is no memory. Contexts: the drain. */
bool prof_stack_of_callers(const uint32_t *frames, uint32_t count,
                           struct prof_callers *callers);

/* The callback through which the stream reads stack (number) (stream.h). */
prof_stream_tree prof_stacks_find;

/* Converts a stack, or NULL, to a node of the stream. */
static inline struct prof_stream_node *prof_stack_node(struct prof_stack *stack)
{
    return (struct prof_stream_node *)(void *)stack;
}

/* Sets all samples to 0; stacks keep their numbers. Contexts: thread. */
void prof_stacks_clear(void);

#endif
