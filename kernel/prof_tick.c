/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's tick, which the profiler shares: see clock.c. */

#include "prof_port.h"

#include <arch/trap.h>
#include <kernel/clock.h>

#define TIMER_LINE 0 /* the PIT's line of the PIC */

struct prof_tick prof_port_tick(void)
{
    return (struct prof_tick){.kind = PROF_TICK_PIT,
                              .kernel_divisor = CLOCK_DIVISOR,
                              .vector = ARCH_IRQ_BASE + TIMER_LINE};
}
