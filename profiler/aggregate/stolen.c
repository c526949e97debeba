/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Stolen time: the host did not run the guest. It is in an account of its own
 * and in no sample.
 *
 * The evidence is ticks that were missed before a sample (timebase.h). The
 * sample is charged one period, the rest was stolen. Where interrupts are
 * enabled at it, the guest itself may have kept the ticks waiting, and no clock
 * separates the two: the time was stolen if the host takes time at least four
 * times as often elsewhere, and has recently taken as much at once. Else it was
 * masked, and stays the sample's.
 */

#include "aggregate/drain.h"

#include "aggregate/accounts.h"
#include "aggregate/instruction_class.h"
#include "tick/clock.h"

#include <prof/config.h>

#include <stdbool.h>

/* Gaps that decide; then older ones count half. */
#define RECENT_MAX 256u

/* Gaps elsewhere for each one where interrupts are enabled, at least. */
#define ELSEWHERE_MIN 4u

static struct recent {
    uint32_t elsewhere; /* gaps that the guest cannot have made */
    uint32_t masked;    /* that it may have made */
    uint64_t longest;   /* cycles of one elsewhere */
} recent_of_cpu[PROF_CPUS_MAX];

void prof_stolen_open(struct prof_cpu *cpu)
{
    recent_of_cpu[prof_cpu_number(cpu)] = (struct recent){0};
}

static bool was_stolen(struct recent *recent, uintptr_t pc, uint64_t gap)
{
    if (!PROF_WITH_CLASSES)
        return true;
    if (recent->elsewhere + recent->masked >= RECENT_MAX) {
        recent->elsewhere /= 2;
        recent->masked /= 2;
        recent->longest /= 2;
    }
    if (prof_was_masked(pc)) {
        recent->masked++;
        return gap <= recent->longest &&
               recent->elsewhere >= recent->masked * ELSEWHERE_MIN;
    }
    recent->elsewhere++;
    if (gap > recent->longest)
        recent->longest = gap;
    return true;
}

uint64_t prof_stolen_charge(struct prof_cpu *cpu, uintptr_t pc, uint64_t cycles,
                            uint64_t gap)
{
    if (gap == 0 || !was_stolen(&recent_of_cpu[prof_cpu_number(cpu)], pc, gap))
        return cycles;
    prof_accounts_of(cpu)->stolen_cycles += gap;
    return cycles - gap;
}

uint64_t prof_stolen_charge_all(struct prof_cpu *cpu, uintptr_t pc,
                                uint32_t samples, uint64_t cycles,
                                uint64_t *gap)
{
    const struct prof_timebase *clock = prof_clock_of(cpu);
    uint64_t covered = (uint64_t)samples * clock->step;
    uint64_t beyond = cycles > covered ? cycles - covered : 0;

    /* Less than half a period is a tick that came late. */
    if (beyond <= clock->step / 2)
        return cycles;
    if (beyond > *gap)
        beyond = *gap;
    *gap -= beyond;
    return prof_stolen_charge(cpu, pc, cycles, beyond);
}
