/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Whoever ran in the middle of the stolen time has had it all: in between there
 * was nobody else. A hypervisor that is itself late may deliver the tick some
 * time after it has let the guest run on: then the gap between samples is
 * longer than what ran in its middle, and that has lost what it has. But if it
 * has less than half, the guest ran on for long, and this says nothing.
 */

#include "loop/loop_stolen.h"

#include "loop/guard.h"
#include "loop/long_runs.h"
#include "loop/loop.h"
#include "loop/utilisation.h"

#include "base/cpu.h"

static struct prof_loop_state *const state = &prof_loop_state;

/* The last long interrupt. */
static uint64_t shorten_interrupt(uint64_t tsc, uint64_t cycles)
{
    uint64_t own = state->long_irq_exit - state->long_irq_enter;

    if (tsc - state->long_irq_enter >= own)
        return 0;
    cycles = prof_stolen_part(cycles, own);
    state->taken_out_irq_cycles += cycles;
    state->long_irq_exit = state->long_irq_enter;
    return cycles;
}

/* The innermost of the frames on the stack that had begun by (tsc); (now) is
 * the time of the last rebase. */
static uint64_t shorten_frame(uint64_t tsc, uint64_t cycles, uint64_t now)
{
    struct prof_loop_frame *at = state->top;
    uint32_t depth = 0;
    uint64_t before;

    while (at->outer != NULL && depth++ < PROF_LOOP_DEPTH_MAX &&
           prof_loop_begun(at) > tsc)
        at = at->outer;
    cycles = prof_stolen_part(cycles, prof_loop_so_far(at, now));
    before = at->site != at->node->site ? at->before : 0;
    if (before > cycles)
        before = cycles;
    if (before != 0)
        at->before -= before;
    at->start += (uint32_t)(cycles - before);
    return cycles;
}

/* Whoever ran in the (middle) loses it. Returns what it lost. */
static uint64_t take_out(uint64_t middle, uint64_t cycles, uint64_t now)
{
    bool on = prof_interrupts_save(), found = false;
    uint64_t taken = shorten_interrupt(middle, cycles);

    if (taken == 0)
        taken = prof_held_shorten(middle, cycles, &found);
    if (taken == 0 && !found)
        taken = shorten_frame(middle, cycles, now);
    state->taken_out_cycles += taken;
    if (taken != 0)
        prof_guard_shorten(middle, taken);
    prof_interrupts_restore(on);
    return taken;
}

void prof_loop_put_stolen(uint64_t tsc, uint64_t cycles)
{
    uint64_t middle = tsc - cycles / 2, now = prof_loop_put_rebase();
    uint64_t idle, taken;

    if (middle < state->opened_tsc) {
        state->stolen_cycles_reset += cycles;
        return;
    }
    if (middle < state->read_tsc)
        return;
    prof_utilisation_mark(now);
    idle = prof_utilisation_idle(now);
    taken = take_out(middle, cycles, now);
    prof_utilisation_stolen(tsc, taken, prof_utilisation_idle(now) != idle);
}
