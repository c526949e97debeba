/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_HELD_H
#define PROF_LOOP_HELD_H

/*
 * Runs that held the loop for long, prof.loop_hold, and the samples taken in
 * them. Such a run is noted when it pauses; the drain, which comes later and
 * knows the time of each sample, finds the runs that a sample fell into. If a
 * task within another held the loop, the sample is the inner one's.
 *
 * Contexts: thread.
 */

#include "loop/sites.h"

#include <stdbool.h>
#include <stdint.h>

#define PROF_HELD_RUNS 16u     /* between two drains */
#define PROF_HELD_FUNCTIONS 6u /* of a run */
#define PROF_HELD_KEPT 4u      /* the longest runs, for the table */

struct prof_held_run {
    struct prof_loop_site *site;
    uint64_t begin_tsc, end_tsc;
    uint64_t own_cycles;
    uint32_t object; /* its task in the trace, 0 = none */
    uint32_t samples;
    struct {
        uintptr_t function; /* its start, or the address if it is in none */
        uint32_t samples;
    } functions[PROF_HELD_FUNCTIONS]; /* the most frequent ones first, once the
                                         run is complete */
};

/* With PROF_HELD_BYTES of memory for them, aligned to 8. */
#define PROF_HELD_BYTES                                                        \
    ((PROF_HELD_RUNS + PROF_HELD_KEPT) * sizeof(struct prof_held_run))
void prof_held_open(void *memory);

extern uint64_t prof_held_least; /* cycles of a long run */
extern uint32_t prof_held_count; /* noted since the last drain */

/* A run of (site) that lasted (own) cycles began at (begin) and pauses now. */
void prof_held_add(struct prof_loop_site *site, uint64_t begin, uint64_t end,
                   uint64_t own, uint32_t object);

/* The shortest run to be looked at, if the longest was (longest). */
uint32_t prof_held_notable(uint64_t longest);

/* The drain has a sample at (tsc), in the code at (pc). */
void prof_held_put_sample(uint64_t tsc, uintptr_t pc);
static inline void prof_held_sample(uint64_t tsc, uintptr_t pc)
{
    if (__builtin_expect(prof_held_count != 0, 0))
        prof_held_put_sample(tsc, pc);
}

/* All samples until now were drained: calls (send) for each run noted, which
 * may be NULL, and forgets them. */
void prof_held_finish(void (*send)(const struct prof_held_run *run));

/* The longest runs, longest first; NULL: no more. */
const struct prof_held_run *prof_held_longest(uint32_t number);
void prof_held_reset(void);

#endif
