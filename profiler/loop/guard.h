/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_GUARD_H
#define PROF_LOOP_GUARD_H

/*
 * The freeze guard: says who holds the loop for longer than prof.loop_freeze,
 * while it still does.
 *
 * The kernel's timer interrupt calls prof_loop_guard(). As long as the loop's
 * own frame has not run in between, the loop has been held since the first of
 * these ticks; what runs at the top, since its start at least. So it is noticed
 * within a tick, however many tasks there are within each other, and runs and
 * pauses need do nothing for it.
 */

#include "loop/sites.h"

#include <stdbool.h>
#include <stdint.h>

#define PROF_GUARD_FRAMES 12u

struct prof_freeze {
    uint64_t tsc;
    uint64_t held_cycles;               /* so far */
    const struct prof_loop_site *site;  /* of what runs */
    const struct prof_loop_site *outer; /* and of what the loop has called */
    uint32_t object;
    uint32_t count; /* of addresses: the one interrupted, and its callers */
    uintptr_t addresses[PROF_GUARD_FRAMES];
};

struct prof_guard {
    uint64_t limit;        /* cycles, 0 = no guard */
    void (*trigger)(void); /* to be called in the interrupt, or NULL */
    bool held;             /* at the last tick, and then: */
    bool reported;
    bool is_new;    /* nobody has taken (freeze) */
    uint64_t mark;  /* the loop's frame */
    uint64_t since; /* clock at the first tick of that */
    struct prof_freeze freeze;
};

/* (cycles) 0: no guard. (trigger): called at each freeze, or NULL. */
void prof_guard_set(uint64_t cycles, void (*trigger)(void));

/* (cycles) were stolen at (tsc): nobody has held the loop meanwhile. Contexts:
 * thread, interrupts off. */
void prof_guard_shorten(uint64_t tsc, uint64_t cycles);

/* The last freeze that nobody has taken; false: there is none. Contexts:
 * thread. */
bool prof_guard_take(struct prof_freeze *freeze);

#endif
