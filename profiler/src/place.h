/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PLACE_H
#define PROF_PLACE_H

/*
 * From a sample to where it belongs: address, function, call stack. Contexts:
 * the drain, but for prof_place_settle().
 */

#include "state.h"

/* Where the samples of one address, or one sample, belong. Starts with pc and
 * address, the rest being zeros. */
struct prof_place {
    uintptr_t pc;
    struct prof_cell *address; /* prof_place_address() */
    uintptr_t owner; /* its function's start, or pc where there is none */
    enum prof_class class;
    struct prof_cell *function; /* NULL where the function is new */
    uint32_t caller;            /* as in the address's cell */
    uint32_t node;              /* of its stack */
    bool alone;                 /* which is nothing but pc */
    bool far;                   /* its caller is out of the walk's reach */
    uint32_t stop; /* why its walk ended early, enum prof_walk_stop, or 0 */
};

/* The cell of (pc); NULL where it is new, or the idle loop's. */
struct prof_cell *prof_place_address(uintptr_t pc);

/*
 * Finds out where a sample of (place->pc) belongs whose words begin at (words)
 * of the frame vector; (walk) is what prof_walk() said of them. False: it is
 * new and there is no room for it. Half a KiB of stack.
 */
bool prof_place_find(struct prof_place *place, const uint32_t *words,
                     uint32_t walk);

/* Adds (samples) that stand for (cycles), the last of them taken at (tsc), to
 * where prof_place_find() said. */
void prof_place_credit(const struct prof_place *place, uint64_t samples,
                       uint64_t cycles, uint64_t tsc);

/*
 * The short way for a sample without callers at an address whose cell knows its
 * node: credits both with it. What its function and its call are due waits for
 * prof_place_settle().
 */
void prof_place_credit_flat(struct prof_cell *address, uint64_t cycles,
                            uint64_t tsc);

/* Credits functions and calls with all that they were not yet: to be called
 * before they are looked at. Contexts: thread. Does not allocate. Linear in the
 * stacks that are nothing but an address. */
void prof_place_settle(void);

#endif
