/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The statistics of the event loop take cycles out of the sampler's sum of
 * those in interrupts. Virtual time goes on.
 */

#include "../unit.h"

#include <prof/causal.h>
#include "sample/cpu_state.h"

static PROF_PROGRESS(point, "point");
static PROF_TARGET(target, "target");

/* Cycles that virtual time lags by more after some time in the target, during
 * which the statistics of the event loop take (taken) cycles out of the count
 * of those in interrupts. */
static uint64_t lag_of_a_visit(uint64_t taken)
{
    struct prof_causal_stats before, after;

    prof_causal_stats(&before);
    prof_cpus[0].interrupt_cycles = taken;
    prof_target_enter(&target);
    for (volatile unsigned i = 0; i < 100000; i++)
        continue;
    prof_cpus[0].interrupt_cycles -= taken;
    prof_cpus[0].taken_cycles += taken;
    prof_target_leave(&target);
    prof_causal_stats(&after);
    return after.delay_cycles - before.delay_cycles;
}

TEST(interrupts_may_be_counted_elsewhere)
{
    const struct prof_causal_settings settings = {.tsc_hz = 1000000000};

    prof_causal_add_progress(&point);
    prof_causal_add_target(&target);
    assert_int_equal(prof_causal_start(&settings), 0);
    assert_int_equal(prof_causal_fix(&target, PROF_ONE / 2), 0);
    assert_int_not_equal(lag_of_a_visit(0), 0);
    assert_int_not_equal(lag_of_a_visit(1000000), 0);
    prof_causal_stop();
}
