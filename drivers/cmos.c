/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Motorola, MC146818A Real-Time Clock, 1984; the century in byte 0x32
 * is a convention of PCs.
 *
 * The bytes are read one by one and may change meanwhile. They are accepted
 * only if two consecutive readings, each begun while no update is in progress,
 * agree.
 */

#include "cmos.h"

#include <arch/cpu.h>
#include <stdbool.h>

#define INDEX 0x70u
#define DATA 0x71u

#define SECOND 0x00u
#define MINUTE 0x02u
#define HOUR 0x04u
#define DAY 0x07u
#define MONTH 0x08u
#define YEAR 0x09u
#define STATUS_A 0x0au
#define STATUS_B 0x0bu
#define CENTURY 0x32u

#define A_UPDATE_IN_PROGRESS 0x80u
#define B_24_HOURS 0x02u
#define B_BINARY 0x04u
#define HOUR_PM 0x80u

#define MISSING 0xffu          /* no clock's status A */
#define WAIT_READS_MAX 500000u /* seconds; an update takes 2 ms */
#define WAIT_PAUSES 32u        /* of a read; they leave QEMU's lock alone */
#define ATTEMPTS 1000u /* on a busy host, seconds pass between two readings */
#define SECONDS_PER_DAY 86400u
#define DAYS_TO_1970 719468u /* from 1 March of the year 0 */

struct clock {
    uint8_t second, minute, hour, day, month, year, century;
};

static uint8_t cmos_read(uint8_t index)
{
    arch_out8(INDEX, index);
    return arch_in8(DATA);
}

/*
 * QEMU ends an update in a thread that needs the lock which each read takes.
 * Where the host is busy, that thread may not run for some 100 ms.
 */
static bool wait_for_update(void)
{
    for (unsigned reads = 0; reads < WAIT_READS_MAX; reads++) {
        uint8_t status = cmos_read(STATUS_A);

        if (status == MISSING)
            return false;
        if ((status & A_UPDATE_IN_PROGRESS) == 0)
            return true;
        for (unsigned pause = 0; pause < WAIT_PAUSES; pause++)
            arch_pause();
    }
    return false;
}

static bool read_raw(struct clock *clock)
{
    if (!wait_for_update())
        return false;
    clock->second = cmos_read(SECOND);
    clock->minute = cmos_read(MINUTE);
    clock->hour = cmos_read(HOUR);
    clock->day = cmos_read(DAY);
    clock->month = cmos_read(MONTH);
    clock->year = cmos_read(YEAR);
    clock->century = cmos_read(CENTURY);
    return true;
}

static bool same(const struct clock *a, const struct clock *b)
{
    return a->second == b->second && a->minute == b->minute &&
           a->hour == b->hour && a->day == b->day && a->month == b->month &&
           a->year == b->year && a->century == b->century;
}

static bool read_consistent(struct clock *clock)
{
    struct clock again;

    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (!read_raw(clock) || !read_raw(&again))
            return false; /* there is no clock */
        if (same(clock, &again))
            return true;
    }
    return false;
}

static unsigned from_bcd(unsigned value)
{
    return (value >> 4) * 10 + (value & 0xf);
}

static unsigned hour_of_day(uint8_t raw, uint8_t status_b)
{
    const unsigned digits = raw & (unsigned)~HOUR_PM;
    const unsigned hour = status_b & B_BINARY ? digits : from_bcd(digits);

    if ((status_b & B_24_HOURS) != 0)
        return hour;
    return hour % 12 + (raw & HOUR_PM ? 12 : 0);
}

/* Days since 1970. Years begin in March here, so the leap day comes last. */
static uint32_t days_of(unsigned year, unsigned month, unsigned day)
{
    const unsigned y = month <= 2 ? year - 1 : year;
    const unsigned m = month <= 2 ? month + 9 : month - 3;

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 -
           DAYS_TO_1970;
}

uint64_t cmos_unix_seconds(void)
{
    const uint8_t status_b = cmos_read(STATUS_B);
    const bool binary = (status_b & B_BINARY) != 0;
    struct clock raw;
    unsigned year, month, day, century;

    if (!read_consistent(&raw))
        return 0;
    century = binary ? raw.century : from_bcd(raw.century);
    year = binary ? raw.year : from_bcd(raw.year);
    month = binary ? raw.month : from_bcd(raw.month);
    day = binary ? raw.day : from_bcd(raw.day);
    year += (century >= 19 && century <= 99 ? century : 20) * 100;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31)
        return 0;
    return (uint64_t)days_of(year, month, day) * SECONDS_PER_DAY +
           hour_of_day(raw.hour, status_b) * 3600u +
           (binary ? raw.minute : from_bcd(raw.minute)) * 60u +
           (binary ? raw.second : from_bcd(raw.second));
}
