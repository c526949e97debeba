/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Calibration of the time stamp counter where there is no PIT.
 *
 * A counter is read between two reads of the TSC, of which the closest pair
 * counts, at either end of 50 ms: a host may suspend the guest between them. It
 * wraps, so two attempts must agree.
 *
 * The RTC has no counter, but a flag that is set 1,024 times a second. Flags
 * are lost while the guest does not run. So their distance is the median of
 * those that were seen, and their number the time divided by that.
 *
 * Sources: ACPI Specification 6.4, 4.8.3.3 (power management timer); Motorola,
 * MC146818A Real-Time Clock, 1984.
 */

#include "tsc.h"

#include "acpi.h"

#include <arch/apic.h>
#include <arch/cpu.h>
#include <stddef.h>

#define READS 100u
#define STILL_MAX 100000u /* reads of a counter that does not count */
#define PARTS 20u         /* of a second: 50 ms */
#define ATTEMPTS 8u
#define WIDTH_PART 500u  /* of the interval that both brackets may have */
#define AGREE_PART 1000u /* of the frequency that two attempts may differ by */

#define FADT_TIMER 76u
#define FADT_TIMER_BYTES 91u
#define PM_TIMER_HZ 3579545u
#define PM_TIMER_MASK 0xffffffu

struct counter {
    uint32_t hz, mask;
    uint32_t (*read)(void);
};

struct reading {
    uint64_t tsc, width;
    uint32_t count;
};

static struct reading read_both(const struct counter *counter)
{
    struct reading best = {.width = UINT64_MAX};

    for (unsigned i = 0; i < READS; i++) {
        const uint64_t before = arch_tsc();
        const uint32_t count = counter->read();
        const uint64_t width = arch_tsc() - before;

        if (width < best.width)
            best = (struct reading){before + width / 2, width, count};
    }
    return best;
}

/* False: it does not count. */
static bool wait(const struct counter *counter, uint32_t from)
{
    uint32_t passed, last = 0;

    for (unsigned still = 0; still < STILL_MAX; still++) {
        passed = (counter->read() - from) & counter->mask;
        if (passed >= counter->hz / PARTS)
            return true;
        if (passed != last)
            still = 0;
        last = passed;
    }
    return false;
}

/* The frequency, or 0 if this attempt failed. */
static uint64_t attempt(const struct counter *counter)
{
    struct reading first = read_both(counter), last;

    if (!wait(counter, first.count))
        return 0;
    last = read_both(counter);
    if ((first.width + last.width) * WIDTH_PART > last.tsc - first.tsc)
        return 0;
    return (last.tsc - first.tsc) * counter->hz /
           ((last.count - first.count) & counter->mask);
}

static uint64_t by_counter(const struct counter *counter)
{
    uint64_t before = 0, hz;

    for (unsigned i = 0; i < ATTEMPTS; i++) {
        hz = attempt(counter);
        if (hz == 0)
            continue;
        if ((hz > before ? hz - before : before - hz) < hz / AGREE_PART)
            return hz;
        before = hz;
    }
    return 0;
}

/* ---- ACPI's timer */

static uint16_t pm_port;

static uint32_t pm_read(void)
{
    return arch_in32(pm_port);
}

static uint64_t by_acpi(void)
{
    static const struct counter counter = {PM_TIMER_HZ, PM_TIMER_MASK, pm_read};
    const struct acpi_table *fadt = acpi_find("FACP", NULL);
    const uint8_t *byte = (const void *)fadt;

    if (fadt == NULL || fadt->bytes <= FADT_TIMER_BYTES ||
        byte[FADT_TIMER_BYTES] != 4)
        return 0;
    pm_port = (uint16_t)(byte[FADT_TIMER] | byte[FADT_TIMER + 1] << 8);
    return pm_port != 0 ? by_counter(&counter) : 0;
}

/* ---- the local APIC's timer, where its frequency is known */

static uint64_t by_apic(void)
{
    const struct counter counter = {arch_apic_hz(), UINT32_MAX,
                                    arch_apic_stopwatch};

    if (counter.hz == 0 || !arch_apic_start())
        return 0;
    arch_apic_stopwatch_start();
    return by_counter(&counter);
}

/* ---- the RTC */

#define RTC_INDEX 0x70u
#define RTC_DATA 0x71u
#define RTC_A 0x0au
#define RTC_A_1024_HZ 0x26u
#define RTC_B 0x0bu
#define RTC_B_PERIODIC 0x40u
#define RTC_C 0x0cu
#define RTC_C_PERIODIC 0x40u
#define RTC_MISSING 0xffu
#define RTC_HZ 1024u
#define FLAGS 64u
#define FLAG_READS_MAX 1000000u

static uint8_t rtc_get(uint8_t index)
{
    arch_out8(RTC_INDEX, index);
    return arch_in8(RTC_DATA);
}

static void rtc_set(uint8_t index, uint8_t value)
{
    arch_out8(RTC_INDEX, index);
    arch_out8(RTC_DATA, value);
}

/* TSC at the next flag; 0: there is none. */
static uint64_t next_flag(void)
{
    for (unsigned i = 0; i < FLAG_READS_MAX; i++)
        if ((rtc_get(RTC_C) & RTC_C_PERIODIC) != 0)
            return arch_tsc();
    return 0;
}

static void sort(uint64_t *values, unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        for (unsigned j = i; j > 0 && values[j] < values[j - 1]; j--) {
            const uint64_t value = values[j];

            values[j] = values[j - 1];
            values[j - 1] = value;
        }
}

static uint64_t count_flags(void)
{
    uint64_t apart[FLAGS], first, before, now, distance;

    (void)next_flag(); /* it may have been set for long */
    before = first = next_flag();
    if (first == 0)
        return 0;
    for (unsigned i = 0; i < FLAGS; i++) {
        now = next_flag();
        if (now == 0)
            return 0;
        apart[i] = now - before;
        before = now;
    }
    sort(apart, FLAGS);
    distance = apart[FLAGS / 2];
    return (now - first) * RTC_HZ / ((now - first + distance / 2) / distance);
}

/* Its interrupt is masked. */
static uint64_t by_rtc(void)
{
    const uint8_t a = rtc_get(RTC_A), b = rtc_get(RTC_B);
    uint64_t hz;

    if (a == RTC_MISSING)
        return 0;
    rtc_set(RTC_A, RTC_A_1024_HZ);
    rtc_set(RTC_B, b | RTC_B_PERIODIC);
    hz = count_flags();
    rtc_set(RTC_B, b);
    rtc_set(RTC_A, a);
    (void)rtc_get(RTC_C);
    return hz;
}

/* ---- in this order: the more exact first */

static const struct {
    const char *name;
    uint64_t (*measure)(void);
} clocks[TSC_CLOCKS] = {
    [TSC_BY_ACPI] = {"ACPI's timer", by_acpi},
    [TSC_BY_APIC] = {"the local APIC's timer", by_apic},
    [TSC_BY_RTC] = {"the RTC", by_rtc},
};

uint64_t tsc_calibrate_by(enum tsc_clock clock)
{
    return clocks[clock].measure();
}

uint64_t tsc_calibrate_without_pit(const char **name)
{
    for (unsigned clock = 0; clock < TSC_CLOCKS; clock++) {
        const uint64_t hz = tsc_calibrate_by(clock);

        *name = clocks[clock].name;
        if (hz != 0)
            return hz;
    }
    return 0;
}
