/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The local APIC's few registers, and how fast its timer counts; see lapic.h.
 *
 * The timer's frequency is the bus's on old processors, the crystal's on newer
 * ones, 1 GHz in QEMU and KVM. A hypervisor may pass on the processor's CPUID
 * leaf with the crystal's frequency, but count by another clock. So what is
 * said is only taken where the timer itself does not contradict.
 */

#include "tick/lapic.h"

#include "base/cpu.h"

#include <stddef.h>

#define BASE_X2APIC ((uint64_t)1 << 10)
#define BASE_ON ((uint64_t)1 << 11)
#define BASE_ADDRESS 0xffffffffff000ull
#define LINT_NMI (4u << 8)
#define LINT_EXTINT (7u << 8)
#define VECTOR_SPURIOUS 0xffu /* where none was chosen */

#define LEAF_RATES 0x40000010u /* b: kHz of the timer */
#define LEAF_CRYSTAL 0x15u     /* c: Hz, b / a: the TSC's multiple */
#define LEAF_NOMINAL 0x16u     /* a: MHz of the CPU */

#define MEASURED_PART 100u /* of a second */
#define READS 16u
#define ATTEMPTS 8u
#define NARROW_PART 20000u /* of what is measured; the ends are read so close */
#define AGREES_PART 100u

#ifdef PROF_HOSTED
const struct prof_lapic_test *prof_lapic_test;
#endif

/* Counts per second, by what the hypervisor or the CPU says; 0: nothing. */
static uint64_t stated(void)
{
    struct prof_cpuid of = prof_cpuid(LEAF_RATES);

    if (of.b != 0)
        return (uint64_t)of.b * 1000;
    of = prof_cpuid(LEAF_CRYSTAL);
    if (of.c != 0 || of.a == 0 || of.b == 0)
        return of.c;
    /* the TSC counts at the nominal frequency, a multiple of the crystal's */
    return prof_divide(
        (uint64_t)(prof_cpuid(LEAF_NOMINAL).a & 0xffff) * 1000000 * of.a, of.b);
}

/* ---- on and off */

static void enable(const struct prof_lapic *lapic)
{
    uint32_t spurious = prof_lapic_read(lapic, PROF_LAPIC_SPURIOUS);

    if ((spurious & PROF_LAPIC_ENABLED) != 0)
        return;
    if ((spurious & 0xff) < 32)
        spurious |= VECTOR_SPURIOUS;
    prof_lapic_write(lapic, PROF_LAPIC_SPURIOUS, spurious | PROF_LAPIC_ENABLED);
    prof_lapic_write(lapic, PROF_LAPIC_LINT0, LINT_EXTINT);
    prof_lapic_write(lapic, PROF_LAPIC_LINT1, LINT_NMI);
}

bool prof_lapic_find(struct prof_lapic *lapic, uintptr_t mapped, bool on)
{
    uint64_t base;

    if (!prof_cpu_has(PROF_CPU_MSR) || !prof_cpu_has(PROF_CPU_APIC))
        return false;
    base = prof_msr(PROF_MSR_APIC_BASE);
    if ((base & BASE_ON) == 0 && on) {
        base |= BASE_ON;
        prof_set_msr(PROF_MSR_APIC_BASE, base);
    }
    if ((base & BASE_ON) == 0)
        return false;
    lapic->at = 0;
    if ((base & BASE_X2APIC) == 0) {
        base &= BASE_ADDRESS;
        if (mapped == 0 && base > UINTPTR_MAX)
            return false;
        lapic->at = mapped != 0 ? mapped : (uintptr_t)base;
    }
    if (on)
        enable(lapic);
    return (prof_lapic_read(lapic, PROF_LAPIC_SPURIOUS) & PROF_LAPIC_ENABLED) !=
           0;
}

uint32_t prof_lapic_left(const struct prof_lapic *lapic)
{
    uint32_t left = prof_lapic_read(lapic, PROF_LAPIC_LEFT);

    return left == 0 && prof_lapic_read(lapic, PROF_LAPIC_COUNT) != 0 ? 1
                                                                      : left;
}

uint32_t prof_lapic_divisor(const struct prof_lapic *lapic)
{
    uint32_t divide = prof_lapic_read(lapic, PROF_LAPIC_DIVIDE);
    uint32_t power = ((divide & 3) | (divide >> 1 & 4)) + 1; /* bit 2 is 0 */

    return 1u << (power & 7);
}

bool prof_lapic_is_set(const struct prof_lapic *lapic, uint32_t table,
                       uint8_t vector)
{
    return (prof_lapic_read(lapic, table + vector / 32u * 16) >> vector % 32 &
            1) != 0;
}

/* ---- how fast it counts */

struct reading {
    uint64_t tsc, width; /* middle of the two reads around it, and between */
    uint32_t count;
};

/* A host may suspend the guest between two reads: the closest ones count. */
static struct reading read_both(const struct prof_lapic *lapic)
{
    struct reading best = {.width = UINT64_MAX};

    for (uint32_t i = 0; i < READS; i++) {
        uint64_t before = prof_lapic_tsc();
        uint32_t count = prof_lapic_read(lapic, PROF_LAPIC_LEFT);
        uint64_t width = prof_lapic_tsc() - before;

        if (width < best.width)
            best = (struct reading){before + width / 2, width, count};
    }
    return best;
}

/* 0: it does not count, or the ends are too wide for one part in (part). */
static uint32_t count_once(const struct prof_lapic *lapic, uint64_t tsc_hz,
                           uint32_t part)
{
    uint64_t wait = prof_divide(tsc_hz, MEASURED_PART), cycles, counts;
    struct reading first, last;

    prof_lapic_write(lapic, PROF_LAPIC_COUNT, UINT32_MAX);
    first = read_both(lapic);
    while (prof_lapic_tsc() - first.tsc < wait)
        continue;
    last = read_both(lapic);
    prof_lapic_write(lapic, PROF_LAPIC_COUNT, 0);
    cycles = last.tsc - first.tsc;
    if (last.count == 0 || last.count >= first.count ||
        (first.width + last.width) * part > cycles)
        return 0;
    counts = first.count - last.count;
    /* counts * tsc_hz / cycles: both in 32 bits */
    for (; cycles >> 31 != 0; cycles >>= 1)
        tsc_hz >>= 1;
    for (; tsc_hz >> 32 != 0; tsc_hz >>= 1)
        cycles >>= 1;
    counts = prof_divide(counts * tsc_hz, (uint32_t)cycles);
    return counts >> 32 == 0 ? (uint32_t)counts : UINT32_MAX;
}

static bool agrees(uint64_t said, uint64_t measured)
{
    uint64_t off = said > measured ? said - measured : measured - said;

    return off * AGREES_PART < measured;
}

uint32_t prof_lapic_measure(const struct prof_lapic *lapic, uint64_t tsc_hz)
{
    /* A handler must not arm the timer, or find it masked. */
    bool on = prof_interrupts_save();
    uint32_t timer = prof_lapic_read(lapic, PROF_LAPIC_TIMER);
    uint32_t divide = prof_lapic_read(lapic, PROF_LAPIC_DIVIDE);
    uint32_t left = prof_lapic_left(lapic);
    bool by_tsc = (timer & PROF_LAPIC_MODE) == PROF_LAPIC_BY_TSC;
    uint64_t deadline = by_tsc ? prof_msr(PROF_MSR_TSC_DEADLINE) : 0;
    uint32_t part = NARROW_PART, hz = 0;
    uint64_t said = stated();

    prof_lapic_write(lapic, PROF_LAPIC_TIMER,
                     (timer & ~PROF_LAPIC_MODE) | PROF_LAPIC_MASKED);
    prof_lapic_write(lapic, PROF_LAPIC_DIVIDE, PROF_LAPIC_BY_1);
    for (uint32_t i = 0; i < ATTEMPTS && hz == 0; i++, part /= 4)
        hz = count_once(lapic, tsc_hz, part);
    prof_lapic_write(lapic, PROF_LAPIC_DIVIDE, divide);
    prof_lapic_write(lapic, PROF_LAPIC_TIMER, timer);
    if (by_tsc) /* another mode disarms it */
        prof_lapic_deadline(deadline);
    else
        prof_lapic_write(lapic, PROF_LAPIC_COUNT, left);
    prof_interrupts_restore(on);
    return hz != 0 && said != 0 && agrees(said, hz) ? (uint32_t)said : hz;
}
