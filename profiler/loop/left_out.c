/* SPDX-License-Identifier: Apache-2.0 */

/* Replaces this room if PROF_WITH_LOOP is 0 (<prof/config.h>): the calls of a
 * runtime are nothing then, and these remain. */

#include "loop/long_runs.h"
#include "loop/loop.h"
#include "loop/loop_send.h"

#include <prof/error.h>
#include <prof/loop_stats.h>

#if PROF_WITH_LOOP
#error "this is compiled only without it; see tools/build/sources.py"
#endif

uint32_t prof_held_count;

int prof_loop_open(void *memory, size_t bytes, uint64_t tsc_hz)
{
    (void)memory;
    (void)bytes;
    (void)tsc_hz;
    return PROF_EABSENT;
}

void prof_loop_set_limits(uint64_t held_cycles, uint64_t freeze_cycles,
                          bool trigger)
{
    (void)held_cycles;
    (void)freeze_cycles;
    (void)trigger;
}

void prof_loop_reset(void)
{
}

void prof_loop_account(struct prof_loop_account *account)
{
    *account = (struct prof_loop_account){0};
}

void prof_loop_visit(void (*visit)(const struct prof_loop_row *row,
                                   void *context),
                     void *context)
{
    (void)visit;
    (void)context;
}

uint64_t prof_loop_quantile(uint32_t number, enum prof_loop_measure measure,
                            uint32_t permille)
{
    (void)number;
    (void)measure;
    (void)permille;
    return 0;
}

void prof_loop_buckets(uint32_t number, enum prof_loop_measure measure,
                       void (*visit)(uint64_t low, uint64_t high,
                                     uint64_t count, void *context),
                       void *context)
{
    (void)number;
    (void)measure;
    (void)visit;
    (void)context;
}

void prof_loop_contexts(void (*visit)(const struct prof_loop_context *node,
                                      void *context),
                        void *context)
{
    (void)visit;
    (void)context;
}

void prof_loop_report(uint32_t rows)
{
    (void)rows;
}

void prof_held_put_sample(uint64_t tsc, uintptr_t pc)
{
    (void)tsc;
    (void)pc;
}

void prof_loop_drained(uint64_t tsc, uint64_t stolen_cycles,
                       uint64_t period_cycles, uint64_t last_tsc)
{
    (void)tsc;
    (void)stolen_cycles;
    (void)period_cycles;
    (void)last_tsc;
}

void prof_loop_send_again(void)
{
}

void prof_loop_send_last(void)
{
}
