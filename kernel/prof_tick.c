/* SPDX-License-Identifier: Apache-2.0 */
/* The PIT, which is the profiler's own, or which it shares with the kernel. */

#include "alarm.h"
#include "prof_port.h"

#include <arch/trap.h>
#include <kernel/clock.h>

#define TIMER_LINE 0 /* the PIT's line of the PIC */

struct prof_tick prof_port_tick(void)
{
    return (struct prof_tick){.kind = alarm_uses_pit() ? PROF_TICK_PIT
                                                       : PROF_TICK_OWN_PIT,
                              .kernel_divisor = CLOCK_DIVISOR,
                              .vector = ARCH_IRQ_BASE + TIMER_LINE};
}
