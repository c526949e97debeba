/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LONG_RUNS_H
#define PROF_LONG_RUNS_H

/*
 * Long runs are noted when they pause. The next drain knows the time of each
 * sample: those in runs of prof.loop_held and more are kept apart, for the
 * innermost such run. Steal is taken out of what ran at that time, so which run
 * was the longest is decided then. It becomes known when ticks are missing
 * before a sample:
 *
 *     begin         ... stolen ...  sample    pause           drain
 *       |--------------|########|-----|---------|               |
 *       |--------------|        |-----|---------|  is the run's self time
 *
 * What ran is a run that was noted, or one on the stack, found by its begin, or
 * the last long interrupt. What was read before stays: counts only grow.
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
    uint64_t self_cycles;
    uint32_t object; /* its task in the trace, 0 = none */
    uint32_t samples;
    uint64_t call_cycles; /* of its task, which has ended */
    uint64_t call_tsc;    /* then; 0: it has not, or calls are not counted */
    struct __attribute__((packed)) {
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

/* A task, (object) of (site), has ended after (cycles) in all. True: in one of
 * its runs time may have been stolen; whether the call was the longest is
 * decided when that is known. */
bool prof_long_runs_end_call(const struct prof_loop_site *site, uint32_t object,
                             uint64_t cycles, uint64_t tsc);

/* Both limits, and a site's longest run, say what is to be noted. */
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
