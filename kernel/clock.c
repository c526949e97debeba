/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time is read from the TSC, whose frequency the hypervisor or the CPU says;
 * else it is measured once, against the PIT, which is the same on every PC, or
 * another clock where there is none. No time is derived from interrupts, so one
 * that a busy host drops makes a timer late but never the clock wrong.
 */

#include "clock.h"

#include <arch/cpu.h>
#include <cmos.h>
#include <kernel/clock.h>
#include <prof/causal.h>
#include <prof/kvm.h>
#include <string.h>
#include <tsc.h>

static volatile uint64_t ticks;
static uint64_t tsc_hz;
static uint64_t boot_tsc;
static uint64_t boot_unix_seconds;
static const char *instead_of_pit;
static bool by_cmos; /* source of gettimeofday() */

int clock_calibrate(void)
{
    tsc_hz = prof_tsc_hz_stated(true, 0);
    if (tsc_hz == 0)
        tsc_hz = tsc_calibrate();
    if (tsc_hz == 0)
        tsc_hz = tsc_calibrate_without_pit(&instead_of_pit);
    return tsc_hz != 0 ? 0 : -1;
}

void clock_start(void)
{
    boot_unix_seconds = cmos_unix_seconds();
    boot_tsc = arch_tsc();
}

const char *clock_instead_of_pit(void)
{
    return instead_of_pit;
}

/* In two steps, because cycles times a billion overflows 64 bits. */
uint64_t clock_ns_of(uint64_t tsc)
{
    uint64_t cycles = tsc - boot_tsc;
    uint64_t rest = cycles % tsc_hz;

    return cycles / tsc_hz * NS_PER_S + rest * NS_PER_S / tsc_hz;
}

uint64_t clock_ns(void)
{
    return clock_ns_of(prof_causal_time());
}

uint64_t clock_real_ns(void)
{
    return clock_ns_of(arch_tsc());
}

void clock_tick(void)
{
    ticks++;
}

/* Read until two reads agree: on i386 a tick may come between the halves. */
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
    return boot_unix_seconds + clock_real_ns() / NS_PER_S;
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
