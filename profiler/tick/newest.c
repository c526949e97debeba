/* SPDX-License-Identifier: Apache-2.0 */

/* The newest sample; see newest.h. */

#include "tick/newest.h"

#include "sample/cpu_state.h"

/* Two words on i386, between which a tick may write both; so they are read
 * again if one came. Turning interrupts off would not stop an NMI. */
uint64_t prof_newest_tsc(void)
{
    const struct prof_cpu *cpu = &prof_cpus[0];
    uint64_t stored, overflowed;
    uint32_t ticks;

    do {
        ticks = __atomic_load_n(&cpu->ticks, __ATOMIC_ACQUIRE);
        stored = prof_ring_newest_tsc(&cpu->ring);
        overflowed = prof_overflow_newest(&cpu->overflow);
        __atomic_signal_fence(__ATOMIC_ACQ_REL);
    } while (__atomic_load_n(&cpu->ticks, __ATOMIC_ACQUIRE) != ticks);
    return stored > overflowed ? stored : overflowed;
}
