/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LONG_RUNS_H
#define PROF_LONG_RUNS_H

/*
 * Long runs are noted when they pause. Something more becomes known of them
 * with the next drain, which comes later and knows the time of each sample:
 *
 *     Time that the host has stolen is taken out of the run in which it was
 *     (loop_stolen.h). So which run was the longest is decided then.
 *
 *     The samples taken in runs that held the loop for prof.loop_held are kept
 *     apart. If a task within another held it, the sample is the inner one's.
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
    struct prof_loop_node *node;
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

extern uint64_t prof_held_least;  /* cycles of a run that held the loop */
extern uint64_t prof_noted_least; /* of one in which time may be stolen */
extern uint32_t prof_held_count;  /* noted since the last drain */

/* (run) pauses, and was not shorter than its site's histograms.notable. */
void prof_held_add(const struct prof_held_run *run);

/* The same for all sites as prof_held_add() does for one: both limits, and the
 * longest run, say what is to be noted. */
void prof_held_set_limits(uint64_t held_least, uint64_t noted_least);

/* How many of (cycles) that were stolen can be taken out of (own) cycles. */
static inline uint64_t prof_stolen_part(uint64_t cycles, uint64_t own)
{
    if (own >= cycles)
        return cycles;
    return own >= cycles / 2 ? own : 0;
}

/* (cycles) were stolen at (tsc). If a run that was noted ran then, *(found) is
 * set, and it has been shorter, by as many as are returned. */
uint64_t prof_held_shorten(uint64_t tsc, uint64_t cycles, bool *found);

/* The drain has a sample at (tsc), in the code at (pc). */
void prof_held_put_sample(uint64_t tsc, uintptr_t pc);
static inline void prof_held_sample(uint64_t tsc, uintptr_t pc)
{
    if (__builtin_expect(prof_held_count != 0, 0))
        prof_held_put_sample(tsc, pc);
}

/* All samples until now were drained: calls (send) for each run that held the
 * loop, which may be NULL, and forgets all. */
void prof_held_finish(void (*send)(const struct prof_held_run *run));

/* The longest run of (site) so far. The pointer is valid until the next one. */
struct prof_longest_run {
    uint64_t cycles, begin_tsc;
    uint32_t object;
};
struct prof_longest_run prof_held_longest_of(const struct prof_loop_site *site);

/* The longest runs that held the loop, longest first; NULL: no more. */
const struct prof_held_run *prof_held_longest(uint32_t number);
void prof_held_reset(void);

#endif
