/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The source `gate`: the stub stands before the handler of any timer, and every
 * tick goes on to it. So the timer, its controller and its rate may be what
 * they like: a local APIC, an HPET, a RTC.
 */

#include "tick/source_gate.h"

#include "sample/cpu_state.h"
#include "tick/gate_chain.h"
#include "tick/jitter.h"
#include "tick/source.h"
#include "tick/source_hook.h"

static struct {
    uint8_t vector;
    bool running;
} gate;

static int start(bool on)
{
    (void)on;
    prof_cpus[0].tick.pass_due = prof_cpus[0].tick.pass_period = 0;
    prof_cpus[0].tick.jitter.counts = prof_cpus[0].tick.jitter.rest = 0;
    prof_cpus[0].tick.jitter.ticks_left = PROF_JITTER_TICKS;
    if (!prof_gate_chain_enter(gate.vector))
        return PROF_EGATE;
    gate.running = true;
    return PROF_OK;
}

static void stop(bool on)
{
    (void)on;
    prof_gate_chain_leave(gate.vector);
    gate.running = false;
}

const struct prof_source prof_source_gate = {
    .start = start,
    .stop = stop,
    .set_period = prof_source_fixed_period,
};

bool prof_source_gate_open(const struct prof_config *config)
{
    gate.vector = config->tick.vector;
    gate.running = false;
    return gate.vector >= PROF_VECTOR_MIN &&
           prof_source_fixed_open(
               config, " Hz, because that timer is not programmed; prof.hz and "
                       "prof.jitter have no effect\n");
}

uint8_t prof_source_gate_vector(void)
{
    return gate.running ? gate.vector : 0;
}
