/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The local APIC's timer: TSC-deadline or one-shot.
 *
 * A one-shot timer's frequency is not known beforehand: it is the bus's on old
 * CPUs, a crystal's on newer ones, 1 GHz in QEMU. So the counter is read twice,
 * each time between two reads of the TSC, of which the closest pair counts: a
 * host may suspend the guest between them. A TSC-deadline timer compares with
 * the TSC itself.
 */

#include "cpu_bits.h"
#include "lapic.h"

#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/features.h>
#include <arch/timer.h>
#include <arch/trap.h>
#include <stddef.h>

#define MSR_TSC_DEADLINE 0x6e0u

#define MEASURED_MS 10u
#define READS 16u
#define TURNS 1000u /* from one look at the TSC to the next */
#define ATTEMPTS 8u
#define SCALE_BITS 24 /* counts of a nanosecond: a billion of them fits */

struct arch_timer_sharing arch_timer_sharing;

static enum {
    NONE,
    ONE_SHOT,
    TSC_DEADLINE,
} mode;
static uint64_t scale;         /* counts in 2^SCALE_BITS nanoseconds */
static void (*on_fired)(void); /* in each interrupt */

static void on_timer(void)
{
    lapic_set(LAPIC_EOI, 0);
    on_fired();
}

struct reading {
    uint64_t tsc;
    uint32_t count;
};

static struct reading read_both(void)
{
    uint64_t narrowest = UINT64_MAX;
    struct reading best = {0};

    for (unsigned i = 0; i < READS; i++) {
        const uint64_t before = arch_tsc();
        const uint32_t count = lapic_get(LAPIC_CURRENT_COUNT);
        const uint64_t width = arch_tsc() - before;

        if (width >= narrowest)
            continue;
        narrowest = width;
        best = (struct reading){before + width / 2, count};
    }
    return best;
}

/* Counts per second, 0: it does not count, or was read too late. */
static uint64_t measure(uint64_t tsc_hz)
{
    struct reading first, last;

    lapic_set(LAPIC_INITIAL_COUNT, UINT32_MAX);
    first = read_both();
    while (arch_tsc() - first.tsc < tsc_hz / 1000 * MEASURED_MS)
        for (unsigned i = 0; i < TURNS; i++)
            __asm__ volatile("");
    last = read_both();
    lapic_set(LAPIC_INITIAL_COUNT, 0);
    if (last.count == 0 || last.count >= first.count)
        return 0;
    return (uint64_t)(first.count - last.count) * tsc_hz /
           (last.tsc - first.tsc);
}

static uint64_t measured_hz(uint64_t tsc_hz)
{
    uint64_t hz = 0;

    lapic_set(LAPIC_DIVIDE, LAPIC_DIVIDE_BY_1);
    lapic_set(LAPIC_LVT_TIMER,
              LAPIC_LVT_MASKED | (ARCH_IRQ_BASE + ARCH_IRQ_TIMER));
    for (unsigned i = 0; i < ATTEMPTS && hz == 0; i++)
        hz = measure(tsc_hz);
    return hz;
}

/* The write to memory must come before that of the first deadline. */
static void begin_deadlines(void)
{
    lapic_set(LAPIC_LVT_TIMER,
              LAPIC_LVT_TSC_DEADLINE | (ARCH_IRQ_BASE + ARCH_IRQ_TIMER));
    cpu_fence();
}

bool arch_timer_start(uint64_t tsc_hz, void (*fired)(void))
{
    bool deadline = arch_cpu_has(ARCH_CPU_TSC_DEADLINE);
    uint64_t hz;

    mode = NONE;
    if (!arch_apic_start())
        return false;
    on_fired = fired;
    arch_irq_handle(ARCH_IRQ_TIMER, on_timer);
    hz = deadline ? tsc_hz : measured_hz(tsc_hz);
    if (hz == 0)
        return false;
    scale = (hz << SCALE_BITS) / 1000000000u;
    if (deadline)
        begin_deadlines();
    else
        lapic_set(LAPIC_LVT_TIMER, ARCH_IRQ_BASE + ARCH_IRQ_TIMER);
    mode = deadline ? TSC_DEADLINE : ONE_SHOT;
    return true;
}

#if ARCH_CPUS_MAX > 1

bool arch_timer_exists(void)
{
    return mode != NONE;
}

void arch_timer_start_further(void)
{
    lapic_set(LAPIC_DIVIDE, LAPIC_DIVIDE_BY_1);
    if (mode == TSC_DEADLINE)
        begin_deadlines();
    else
        lapic_set(LAPIC_LVT_TIMER, ARCH_IRQ_BASE + ARCH_IRQ_TIMER);
}

#endif

const char *arch_timer_name(void)
{
    return mode == TSC_DEADLINE ? "local APIC, TSC deadline"
                                : "local APIC, one-shot";
}

static void write_count(uint32_t count)
{
    bool on = arch_interrupts_save();

    if (arch_timer_sharing.count != NULL)
        count = arch_timer_sharing.count(count);
    lapic_set(LAPIC_INITIAL_COUNT, count);
    arch_interrupts_restore(on);
}

static void write_deadline(uint64_t tsc)
{
    bool on = arch_interrupts_save();

    if (arch_timer_sharing.tsc != NULL)
        tsc = arch_timer_sharing.tsc(tsc);
    cpu_set_msr(MSR_TSC_DEADLINE, tsc);
    arch_interrupts_restore(on);
}

void arch_timer_arm(uint64_t ns)
{
    uint64_t counts;

    if (ns > ARCH_TIMER_NS_MAX)
        ns = ARCH_TIMER_NS_MAX;
    counts = ns * scale >> SCALE_BITS;
    if (mode == TSC_DEADLINE) {
        write_deadline(arch_tsc() + counts);
    } else if (mode == ONE_SHOT) {
        if (counts > UINT32_MAX)
            counts = UINT32_MAX;
        write_count(counts == 0 ? 1 : (uint32_t)counts);
    }
}

void arch_timer_stop(void)
{
    if (mode == TSC_DEADLINE)
        write_deadline(0);
    else if (mode == ONE_SHOT)
        write_count(0);
#if ARCH_CPUS_MAX == 1
    mode = NONE; /* else other CPUs' timers go on */
#endif
}
