/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STACKS_H
#define PROF_STACKS_H

/*
 * The heap map of call stacks, three trees (tree.h) of prof_state:
 *
 *   stacks     every distinct chain of addresses, outermost caller first; what
 *              the stream sends. link: the node of calls that it is part of
 *   calls      the same with functions for addresses, so that two calls from
 *              the same function are one; what reports print. link: the node
 *              of callables, and PROF_CALL_OUTERMOST where no caller of it
 *              up the tree is the same function
 *   callables  the functions, each a child of node 0
 *
 * A function that the symbol table does not know counts as one that begins at
 * the address itself.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_CALL_OUTERMOST (1u << 31)
#define PROF_CALL_FUNCTION (PROF_CALL_OUTERMOST - 1)

/* One sample's chain, as it lies in the frame vector (frames.h). */
struct prof_chain {
    uintptr_t pc;
    uintptr_t caller;      /* not found by frame pointers; 0 = none */
    const uint32_t *words; /* return addresses, innermost first */
    uint32_t count;
};

/*
 * The node of (chain) in prof_state.stacks, 0 where it is new and there is no
 * memory for it. Contexts: the drain.
 */
uint32_t prof_stacks_node(const struct prof_chain *chain);

/* Node (node), as the stream asks for it (stream.h). */
struct prof_stream_node;
bool prof_stacks_tell(uint32_t node, struct prof_stream_node *found);

/* Credits a node of prof_state.stacks and what it belongs to. */
void prof_stacks_credit(uint32_t node, uint64_t samples, uint64_t cycles,
                        uint64_t tsc);

/* Sums up calls and callables in the weight that the options ask for. */
void prof_stacks_sum(void);

/* What all samples of the function that begins at (address) sum up to, callers
 * included; after prof_stacks_sum(). */
uint64_t prof_stacks_total(uintptr_t address);

#endif
