/* SPDX-License-Identifier: Apache-2.0 */

/* Replaces this room if PROF_WITH_LOOP is 0 (<prof/config.h>): the calls of a
 * runtime are nothing then, and these remain. */

#include "loop/loop.h"

#include <prof/error.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

#if PROF_WITH_LOOP
#error "this is compiled only without it; see tools/build/sources.py"
#endif

int prof_loop_open(void *memory, size_t bytes, uint64_t tsc_hz)
{
    return PROF_EABSENT;
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
}

uint64_t prof_loop_quantile(uint32_t number, enum prof_loop_measure measure,
                            uint32_t permille)
{
    return 0;
}

void prof_loop_buckets(uint32_t number, enum prof_loop_measure measure,
                       void (*visit)(uint64_t low, uint64_t high,
                                     uint64_t count, void *context),
                       void *context)
{
}

void prof_loop_contexts(void (*visit)(const struct prof_loop_context *node,
                                      void *context),
                        void *context)
{
}

void prof_loop_write_table(uint32_t rows, enum prof_loop_by by, uint32_t width)
{
}

void prof_loop_drained(uint64_t tsc, uint64_t stolen_cycles,
                       uint64_t period_cycles, uint64_t last_tsc)
{
}

void prof_loop_send_again(void)
{
}

void prof_loop_send_last(void)
{
}
