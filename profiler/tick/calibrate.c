/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How fast the time stamp counter counts.
 *
 * The PIT and the TSC cannot be read at the same instant: a busy host may
 * suspend the guest between two reads. So each read of the PIT is between two
 * of the TSC, and of those at either end of the interval the narrowest counts.
 * Where even these are wide the measurement is repeated, and at last accepted.
 */

#include "base/cpu.h"
#include "base/cpu_features.h"
#include "tick/clock.h"
#include "tick/kvm.h"
#include "tick/pit.h"

#include <prof/config.h>
#include <prof/kvm.h>
#include <prof/tick.h>
#include <stdbool.h>

#define PORT_CHANNEL_2 0x42
#define PORT_GATE 0x61 /* bit 0: channel 2 counts; bit 1: speaker */

#define COMMAND_ONE_SHOT 0xb0 /* channel 2, low then high byte, mode 0 */
#define COMMAND_LATCH 0x80    /* its count */

/* In counts since the start. */
#define FIRST_ENDS 4000u
#define LAST_BEGINS 34000u
#define LAST_ENDS 38000u
#define COUNTS_MAX 0xffffu

#define READS_MAX 4000u /* ends a loop if the PIT does not count */
#define ATTEMPTS 24u
/* The interval must be so many times the brackets' width; the later, the less
 * is asked for. */
#define PART_FIRST 1000u
#define PART_LAST 20u

struct reading {
    uint64_t tsc, width; /* middle of the bracket, and all of it */
    uint32_t counts;
};

#define LEAF_RATES (PROF_CPUID_HYPERVISOR + 0x10) /* a: kHz of the TSC */
#define LEAF_CRYSTAL 0x15u                        /* b / a of c Hz */
#define LEAF_NOMINAL 0x16u                        /* a: MHz of the CPU */

uint64_t prof_tsc_hz_stated(bool physical, uintptr_t image_offset)
{
    uint64_t hz = (uint64_t)prof_cpuid(LEAF_RATES).a * 1000;
    struct prof_cpuid of;

    if (PROF_WITH_KVM && hz == 0 && physical)
        hz = prof_kvm_tsc_hz(image_offset);
    if (hz != 0)
        return hz;
    of = prof_cpuid(LEAF_CRYSTAL);
    return of.a != 0 ? prof_divide((uint64_t)of.c * of.b, of.a) : 0;
}

static uint64_t nominal(void)
{
    return (uint64_t)(prof_cpuid(LEAF_NOMINAL).a & 0xffff) * 1000000;
}

static struct reading read_both(void)
{
    uint64_t before = prof_tsc(), after;
    uint32_t count;

    prof_out8(PROF_PIT_COMMAND, COMMAND_LATCH);
    count = prof_in8(PORT_CHANNEL_2);
    count |= (uint32_t)prof_in8(PORT_CHANNEL_2) << 8;
    after = prof_tsc();
    return (struct reading){before + (after - before) / 2, after - before,
                            COUNTS_MAX - count};
}

/* The narrowest reading from (begin) counts on until (end). False: none. */
static bool narrowest(uint32_t begin, uint32_t end, struct reading *best)
{
    uint32_t last = 0, still = 0;
    bool found = false;

    while (still < READS_MAX) {
        struct reading now = read_both();

        if (now.counts < last || now.counts >= end)
            return found;
        still = now.counts == last ? still + 1 : 0;
        last = now.counts;
        if (now.counts < begin || (found && now.width >= best->width))
            continue;
        *best = now;
        found = true;
    }
    return false;
}

static uint64_t measure(uint32_t part)
{
    struct reading first, last;
    uint64_t cycles;

    prof_out8(PROF_PIT_COMMAND, COMMAND_ONE_SHOT);
    prof_out8(PORT_CHANNEL_2, COUNTS_MAX & 0xff);
    prof_out8(PORT_CHANNEL_2, COUNTS_MAX >> 8);
    if (!narrowest(0, FIRST_ENDS, &first) ||
        !narrowest(LAST_BEGINS, LAST_ENDS, &last) ||
        last.counts <= first.counts)
        return 0;
    cycles = last.tsc - first.tsc;
    if ((first.width + last.width) * part > cycles)
        return 0;
    return prof_divide(cycles * PROF_PIT_HZ, last.counts - first.counts);
}

static uint64_t by_pit(void)
{
    uint8_t gate = prof_in8(PORT_GATE);
    uint32_t part = PART_FIRST;
    uint64_t hz = 0;

    prof_out8(PORT_GATE, (uint8_t)((gate & ~2u) | 1u));
    for (uint32_t i = 0; i < ATTEMPTS && hz == 0; i++) {
        hz = measure(part);
        if (i % 4 == 3 && part / 2 >= PART_LAST)
            part /= 2;
    }
    prof_out8(PORT_GATE, gate);
    return hz;
}

uint64_t prof_calibrate(bool physical, uintptr_t image_offset)
{
    uint64_t hz = prof_tsc_hz_stated(physical, image_offset);

    if (hz == 0)
        hz = by_pit();
    return hz != 0 ? hz : nominal();
}
