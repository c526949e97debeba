/* SPDX-License-Identifier: Apache-2.0 */
/* The PIT, which is the profiler's own, or which it shares with the kernel.
 * Where the machine has none, or by prof.tick=lapic, the local APIC's timer, in
 * the same way. */

#include "alarm.h"
#include "prof_cpus.h"
#include "prof_port.h"

#include <arch/timer.h>
#include <arch/trap.h>
#include <irq.h>
#include <kernel/clock.h>
#include <prof/lapic.h>

#define TIMER_LINE 0 /* the PIT's line of the PIC */

struct prof_tick prof_port_tick(void)
{
    const bool pit = alarm_uses_pit();
    /* CPU 0's alarm may be the PIT; others' is always the local APIC's timer */
    const bool shared = !pit || prof_cpus_are_several();
    uintptr_t ioapic_at = 0; /* what the profiler expects by itself */
    uint32_t input = 0;

    (void)irq_timer_input(&ioapic_at, &input);
    if (shared)
        arch_timer_sharing =
            (struct arch_timer_sharing){prof_lapic_arm, prof_lapic_arm_tsc};
    return (struct prof_tick){.kind = PROF_TICK_AUTO,
                              .kernel_divisor = pit ? CLOCK_DIVISOR : 0,
                              .vector = ARCH_IRQ_BASE + TIMER_LINE,
                              .lapic_vector = ARCH_IRQ_BASE + ARCH_IRQ_TIMER,
                              .lapic_shared = shared,
                              .nmi = !pit,
                              .nmi_input = (uint8_t)input,
                              .ioapic_at = ioapic_at};
}
