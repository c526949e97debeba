/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's tick, which the profiler shares: see clock.c. Where the machine
 * has no PIT, or by prof.tick=lapic, it shares the timer of the deadlines. */

#include "prof_port.h"

#include <arch/timer.h>
#include <arch/trap.h>
#include <kernel/clock.h>
#include <prof/lapic.h>

#define TIMER_LINE 0 /* the PIT's line of the PIC */

struct prof_tick prof_port_tick(void)
{
    arch_timer_share = prof_lapic_arm;
    return (struct prof_tick){.kind = PROF_TICK_AUTO,
                              .kernel_divisor = CLOCK_DIVISOR,
                              .vector = ARCH_IRQ_BASE + TIMER_LINE,
                              .lapic_vector = ARCH_IRQ_BASE + ARCH_IRQ_TIMER,
                              .lapic_shared = true};
}
