/* SPDX-License-Identifier: Apache-2.0 */
/* A process has a timer of its own, so its rate is the one asked for. */

#include "../prof_port.h"

#include "interrupts.h"

#include <prof/port.h>
#include <prof/prof.h>

#define MHZ_IN_HZ 1000u

struct prof_tick prof_port_tick(void)
{
    uint32_t hz = prof_options()->hz;

    hosted_ticks_start(hz);
    return (struct prof_tick){.kind = PROF_TICK_HOOK,
                              .rate_mhz = hz * MHZ_IN_HZ};
}

bool prof_port_interrupts_off(void)
{
    return hosted_interrupts_off();
}

void prof_port_interrupts_restore(bool on)
{
    hosted_interrupts_restore(on);
}
