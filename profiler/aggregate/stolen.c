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
 * masked, and stays the sample's. No tick that is an NMI is kept waiting.
 *
 * Where KVM accounts for it (tick/kvm.h), how much was stolen is known, and the
 * evidence only says of which samples: each takes as much of what was stolen
 * since the drain before the last as was missed before it. What is left then
 * was stolen for less than a period at a time, and cannot be separated
 * from the time of the samples: it stays theirs, and is counted.
 */

#include "aggregate/drain.h"

#include "aggregate/accounts.h"
#include "aggregate/instruction_class.h"
#include "base/cpu.h"
#include "tick/clock.h"
#include "tick/kvm.h"

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

#if PROF_WITH_KVM
#define NS_PER_MS 1000000u

/* By KVM's own account, in cycles, and in no account yet. */
static struct measured {
    uint64_t ns;     /* of KVM's, at the last drain */
    uint64_t tsc;    /* then */
    uint64_t before; /* stolen before that drain, */
    uint64_t since;  /* and since */
} measured_of_cpu[PROF_CPUS_MAX];

/* Nanoseconds in cycles, of which no more have passed than (most). A time that
 * went back, as after a migration, is none. */
static uint64_t cycles_of(uint64_t ns, uint64_t most)
{
    uint32_t khz = (uint32_t)prof_divide(prof_clock.tsc_hz, 1000);
    uint64_t cycles = ns >> 36 == 0 ? prof_divide(ns * khz, NS_PER_MS) : 0;

    return cycles < most ? cycles : most;
}

static void open_measured(struct prof_cpu *cpu)
{
    struct measured *measured = &measured_of_cpu[prof_cpu_number(cpu)];

    *measured = (struct measured){.tsc = prof_tsc()};
    if (prof_kvm_steals())
        (void)prof_kvm_stolen_ns(&measured->ns);
}

void prof_stolen_measure(struct prof_cpu *cpu)
{
    struct measured *measured = &measured_of_cpu[prof_cpu_number(cpu)];
    uint64_t now = prof_tsc(), ns;

    if (!prof_kvm_stolen_ns(&ns))
        return;
    prof_accounts_of(cpu)->stolen_short_cycles += measured->before;
    measured->before = measured->since;
    measured->since = cycles_of(ns - measured->ns, now - measured->tsc);
    measured->ns = ns;
    measured->tsc = now;
}

static uint64_t take_at_most(uint64_t *from, uint64_t most)
{
    uint64_t taken = *from < most ? *from : most;

    *from -= taken;
    return taken;
}

/* How much of (gap) was stolen. */
static uint64_t take_measured(const struct prof_cpu *cpu, uint64_t gap)
{
    struct measured *measured = &measured_of_cpu[prof_cpu_number(cpu)];
    uint64_t taken = take_at_most(&measured->before, gap);

    return taken + take_at_most(&measured->since, gap - taken);
}
#endif

void prof_stolen_open(struct prof_cpu *cpu)
{
    recent_of_cpu[prof_cpu_number(cpu)] = (struct recent){0};
#if PROF_WITH_KVM
    open_measured(cpu);
#endif
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
    if (!prof_clock.by_nmi && prof_was_masked(pc)) {
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
#if PROF_WITH_KVM
    if (gap != 0 && prof_kvm_steals_from(cpu)) {
        gap = take_measured(cpu, gap);
        prof_accounts_of(cpu)->stolen_cycles += gap;
        return cycles - gap;
    }
#endif
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
