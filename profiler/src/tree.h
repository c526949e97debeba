/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TREE_H
#define PROF_TREE_H

/*
 * A tree of addresses: what a call stack is stored as. A node is its parent
 * and one address more; node 0 is the root and stands for nothing. Nodes are
 * numbered as they come, so that a parent's number is less than its child's,
 * and keep their number for good.
 *
 * The nodes lie in one piece of memory from prof_port_alloc(), and behind them
 * a table of their numbers, open addressing with linear probing, twice as long
 * and so never more than half full. When the nodes are used up a piece twice
 * as large takes their place. Where it is refused, what is known still counts
 * and what is new has no room. Nothing is ever removed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_node {
    uintptr_t address;
    uint32_t parent;
    uint32_t link;      /* to another tree: whose node this one belongs to */
    uint32_t child;     /* the newest of its children, 0 = none */
    uint32_t sibling;   /* the next older child of the same parent, 0 = none */
    uint64_t samples;   /* that ended here, in no child */
    uint64_t cycles;    /* time that they stand for */
    uint64_t first_tsc; /* when the first and the last of them were taken */
    uint64_t last_tsc;
    union {
        uint64_t total; /* weight with all children, in trees that are summed */
        uint32_t told;  /* the stream's note, in the tree that it tells of */
    };
};

struct prof_tree {
    struct prof_node *nodes; /* NULL before the first reserve */
    uint32_t *slots;         /* numbers of nodes, 0 = free; 2 * capacity */
    uint32_t capacity;       /* nodes, a power of two, or 0 */
    uint32_t used;           /* nodes in use, the root included */
    uint32_t refusals;       /* allocations that were refused */
};

/*
 * Makes sure that (more) more nodes fit. May allocate; contexts: the drain.
 * Returns false when they do not and no memory is to be had.
 */
bool prof_tree_reserve(struct prof_tree *tree, uint32_t more);

/* The child (address) of (parent), 0 where there is none. Contexts: thread. */
uint32_t prof_tree_find(const struct prof_tree *tree, uint32_t parent,
                        uintptr_t address);

/* Makes one that prof_tree_find() did not find, after a prof_tree_reserve(). */
uint32_t prof_tree_add(struct prof_tree *tree, uint32_t parent,
                       uintptr_t address);

/* Adds to node (node) what (samples), the last at (tsc), stand for. */
void prof_tree_credit(struct prof_tree *tree, uint32_t node, uint64_t samples,
                      uint64_t cycles, uint64_t tsc);

/* Forgets all samples and keeps the nodes and their numbers. */
void prof_tree_forget(struct prof_tree *tree);

/* Sums up each node's total: its own weight, cycles or samples, and all of its
 * children's. */
void prof_tree_sum(struct prof_tree *tree, bool cycles);

#endif
