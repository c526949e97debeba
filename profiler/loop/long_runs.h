/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LONG_RUNS_H
#define PROF_LONG_RUNS_H

/*
 * Long runs, and the steal in them. A long run is noted when it pauses. The
 * next drain comes later and knows the time of each sample:
 *
 *     Steal is taken out of what ran at that time, and belongs to nobody. So
 *     which run was the longest is decided then.
 *
 *     The samples taken in runs of prof.loop_held and more are kept apart. If a
 *     task within another held the loop, the sample is the inner one's.
 *
 * Steal becomes known when the drain finds that ticks are missing before a
 * sample:
 *
 *     begin         ... stolen ...  sample    pause           drain
 *       |--------------|########|-----|---------|               |
 *       |--------------|        |-----|---------|  is the run's self time
 *
 * What ran is a run that was noted; or one that has not paused, and is found on
 * the stack by its begin; or the last long interrupt. What was read before
 * stays as it was read: counts only grow.
 *
 * Contexts: thread.
 */

#include "loop/sites.h"

#include <stdbool.h>
#include <stdint.h>

#define PROF_LONG_RUNS_NOTED 16u    /* between two drains */
#define PROF_LONG_RUNS_FUNCTIONS 6u /* of a run */
#define PROF_LONG_RUNS_LISTED 4u    /* the longest ones, for the table */

struct prof_long_run {
    struct prof_loop_node *node;
    struct prof_loop_site *site;
    uint64_t begin_tsc, end_tsc;
    uint64_t own_cycles;
    uint32_t object; /* its task in the trace, 0 = none */
    uint32_t samples;
    struct {
        uintptr_t function; /* its start, or the address if it is in none */
        uint32_t samples;
    } functions[PROF_LONG_RUNS_FUNCTIONS]; /* the most frequent ones first, once
                                              the run is complete */
};

struct prof_long_runs {
    uint64_t held_least;  /* cycles of a run that held the loop */
    uint64_t noted_least; /* of a run in which time may have been stolen */
    uint32_t count;       /* noted since the last drain */
    bool crowded;         /* there was no room for one of them */
    struct prof_long_run *noted;
    struct prof_long_run *listed;
};

/* With PROF_LONG_RUNS_BYTES of memory for them, aligned to 8. */
#define PROF_LONG_RUNS_BYTES                                                   \
    ((PROF_LONG_RUNS_NOTED + PROF_LONG_RUNS_LISTED) *                          \
     sizeof(struct prof_long_run))
void prof_long_runs_open(void *memory);

/* (run) pauses, and was not shorter than its site's histograms.notable. */
void prof_long_runs_add(const struct prof_long_run *run);

/* The same for all sites as prof_long_runs_add() does for one: both limits, and
 * the longest run, say what is to be noted. */
void prof_long_runs_set_limits(uint64_t held_least, uint64_t noted_least);

/* The drain: (cycles) were stolen before the sample at (tsc). */
void prof_loop_put_stolen(uint64_t tsc, uint64_t cycles);
static inline void prof_loop_stolen(uint64_t tsc, uint64_t cycles)
{
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_stolen(tsc, cycles));
}

/* prof_loop_sample() where a run is noted. */
void prof_long_runs_put_sample(uint64_t tsc, uintptr_t pc);

/* All samples until now were drained: calls (send) for each run that held the
 * loop, which may be NULL, and forgets all. */
void prof_long_runs_finish(void (*send)(const struct prof_long_run *run));

/* The longest run in (row), a copy, may be one that was noted. */
void prof_long_runs_include(struct prof_loop_row *row);

/* The longest runs that held the loop, longest first; NULL: no more. */
const struct prof_long_run *prof_long_runs_listed(uint32_t number);
void prof_long_runs_reset(void);

#endif
