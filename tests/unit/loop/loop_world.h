/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOOP_WORLD_H
#define LOOP_WORLD_H

/*
 * Statistics of the event loop that begin anew for each test, by a clock that
 * passes only in pass(), a cycle a millisecond. Included by the one .c file of
 * each test program.
 */

#include "../unit.h"

#include "loop/loop.h"

#include <prof/loop_stats.h>

#define HZ 1000u
#define PERIOD 4u /* of samples */

static void *memory;
static uint64_t stolen; /* cycles that the drain knows of */

/* The statistics begin at (tsc), with (bytes) of memory. */
static inline void loop_begin(uint64_t tsc, size_t bytes)
{
    prof_loop_forget();
    memory = malloc(bytes);
    prof_loop_hosted_tsc = tsc;
    prof_cpus[0].interrupt_cycles = prof_cpus[0].taken_cycles = 0;
    stolen = 0;
    assert_int_equal(prof_loop_open(memory, bytes, HZ), 0);
}

static inline void loop_end(void)
{
    prof_loop_forget();
    prof_loop_limit(0, 0, NULL);
    free(memory);
}

static inline void pass(uint64_t ms)
{
    prof_loop_hosted_tsc += ms;
}

/* The drain finds that (ms) were stolen before the sample at (tsc). */
static inline void drain_finds(uint64_t tsc, uint64_t ms)
{
    prof_loop_stolen(tsc, ms);
    stolen += ms;
}

/* A drain has ended. */
static inline void drained(void)
{
    prof_loop_drained(prof_loop_hosted_tsc, stolen, PERIOD,
                      prof_loop_hosted_tsc);
}

/* The account, whose parts MUST add up. */
static inline struct prof_loop_account account_now(void)
{
    struct prof_loop_account a;

    prof_loop_account(&a);
    assert_int_equal(a.wall_cycles, a.tasks_cycles + a.callbacks_cycles +
                                        a.others_cycles + a.loop_cycles +
                                        a.profiler_cycles + a.idle_cycles +
                                        a.interrupts_cycles + a.sampler_cycles +
                                        a.stolen_cycles);
    return a;
}

#endif
