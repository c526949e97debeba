/* SPDX-License-Identifier: Apache-2.0 */

/* Memory, the begin of counting, and reset. */

#include "loop/guard.h"
#include "loop/long_runs.h"
#include "loop/loop.h"
#include "loop/loop_send.h"
#include "loop/utilisation.h"

#include "base/cpu.h"

#include <prof/error.h>

#define PAIRS 16u /* that are timed together, */
#define ROUNDS 8u /* so many times */

static struct prof_loop_state *const state = &prof_loop_state;

/* Counts from now on. */
static void begin(void)
{
    struct prof_loop_now now;

    prof_loop_rebase(&now);
    state->opened_tsc = now.tsc;
    state->opened_away = now.away;
    state->irq_cycles_reset = now.irq_cycles;
    state->irqs_reset = now.irqs;
    state->freezes_reset = state->freezes;
    state->stolen_cycles_reset = state->stolen_cycles;
    state->taken_out_cycles = state->taken_out_irq_cycles = 0;
}

/* What a wake, a run and a pause cost, in the fastest of some rounds. */
static void time_pairs(void)
{
    struct prof_loop_task task = {0};
    uint64_t cycles = UINT64_MAX;

    task.frame.site = &prof_loop_sites.sites[PROF_SITE_PROFILER];
    task.frame.node = task.frame.site->top;
    prof_loop_set_not_ready(&task);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t before = prof_loop_tsc();

        for (uint32_t n = 0; n < PAIRS; n++) {
            prof_loop_wake(&task);
            prof_loop_run(&task);
            prof_loop_pause(&task);
        }
        before = prof_loop_tsc() - before;
        if (before < cycles)
            cycles = before;
    }
    state->pair_cycles = cycles / PAIRS;
}

int prof_loop_open(void *memory, size_t bytes, uint64_t tsc_hz)
{
    if (memory == NULL || (uintptr_t)memory % 8 != 0 ||
        bytes < PROF_LOOP_MEMORY_MIN)
        return PROF_EMEMORY;
    if (prof_loop_on != 0)
        return PROF_ESTATE;
    *state = (struct prof_loop_state){.tsc_hz = tsc_hz};
    prof_loop_sites_open(memory, bytes);
    state->bottom.site = &prof_loop_sites.sites[PROF_SITE_LOOP];
    state->bottom.node = state->bottom.site->top;
    state->top = &state->bottom;
    state->high = prof_loop_read().high;
    time_pairs();
    prof_loop_on = 1;
    prof_utilisation_open(prof_loop_tsc(), tsc_hz);
    prof_loop_reset();
    return PROF_OK;
}

void prof_loop_reset(void)
{
    uint32_t depth = 0;

    if (prof_loop_on == 0)
        return;
    prof_utilisation_reset(prof_loop_put_rebase());
    prof_loop_sites_reset();
    prof_held_reset();
    prof_loop_send_again();
    begin();
    for (struct prof_loop_frame *at = state->top;
         at != NULL && depth < PROF_LOOP_DEPTH_MAX; at = at->outer, depth++) {
        at->start = at == state->top ? (uint32_t)state->opened_tsc : 0;
        at->before = 0;
    }
}

void prof_loop_set_limits(uint64_t held_cycles, uint64_t freeze_cycles,
                          bool trigger)
{
    prof_held_set_limits(held_cycles != 0 ? held_cycles : UINT64_MAX,
                         prof_noted_least);
    prof_guard_set(freeze_cycles, trigger);
}

#ifdef PROF_HOSTED
void prof_loop_forget(void)
{
    prof_loop_on = 0;
}
#endif
