/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time, from two sources. The TSC says how much has passed; it is calibrated
 * once against the PIT, whose frequency is known on every PC. The tick of the
 * PIT only wakes the CPU up: nobody derives a time from its count, so a tick
 * that a busy host swallows costs lateness and never makes the clock wrong.
 */

#include "clock.h"

#include <arch/cpu.h>
#include <arch/trap.h>
#include <cmos.h>
#include <kernel/clock.h>
#include <kernel/panic.h>
#include <pic.h>
#include <pit.h>
#include <prof/port.h>
#include <string.h>
#include <tsc.h>

#define NS_PER_S 1000000000u

void (*current_eoi_mechanism)(void) = pic_eoi_timer;

static volatile uint64_t ticks;
static uint64_t tsc_hz;
static uint64_t boot_tsc;
static uint64_t boot_unix_seconds;
static bool by_cmos; /* gettimeofday() is */

static void tick(void)
{
    ticks++;
    current_eoi_mechanism();
}

void clock_start(void)
{
    tsc_hz = tsc_calibrate();
    if (tsc_hz == 0)
        panic("the timer does not count: no clock to go by");
    boot_unix_seconds = cmos_unix_seconds();
    boot_tsc = arch_tsc();
    arch_irq_handle(PIC_LINE_TIMER, tick);
    pit_start(CLOCK_DIVISOR);
    pic_unmask(PIC_LINE_TIMER);
}

/* In two steps, because cycles times a billion does not fit in 64 bits. */
uint64_t clock_ns(void)
{
    uint64_t cycles = arch_tsc() - boot_tsc;
    uint64_t rest = cycles % tsc_hz;

    return cycles / tsc_hz * NS_PER_S + rest * NS_PER_S / tsc_hz;
}

/* Read until two looks agree: on i386 a tick may fall between the halves. */
uint64_t clock_ticks(void)
{
    uint64_t seen, again = ticks;

    do {
        seen = again;
        again = ticks;
    } while (seen != again);
    return seen;
}

uint64_t clock_unix_seconds(void)
{
    return boot_unix_seconds + clock_ns() / NS_PER_S;
}

uint64_t clock_tsc_hz(void)
{
    return tsc_hz;
}

uint64_t clock_boot_tsc(void)
{
    return boot_tsc;
}

uint64_t clock_boot_unix_seconds(void)
{
    return boot_unix_seconds;
}

bool clock_option(const char *value)
{
    if (strcmp(value, "cmos") != 0 && strcmp(value, "tsc") != 0)
        return false;
    by_cmos = strcmp(value, "cmos") == 0;
    return true;
}

bool clock_by_cmos(void)
{
    return by_cmos;
}
