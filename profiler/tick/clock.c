/* SPDX-License-Identifier: Apache-2.0 */

/* The time base in force, the rate, and the ticks that were missed. */

#include "tick/clock.h"

#include "base/cpu.h"

#include <prof/config.h>

struct prof_timebase prof_clock;

static struct {
    uint32_t rate_mhz;
    bool steady;
    uint64_t tsc_hz;
    int64_t missed_before; /* prof_clock.missed at the last reset */
} tick;

void prof_clock_open(uint64_t tsc)
{
    prof_clock = (struct prof_timebase){.last_tsc = tsc, .resume_tsc = tsc};
    tick.missed_before = 0;
}

void prof_clock_set(uint64_t period, uint32_t counts, uint32_t rate_mhz)
{
    int64_t missed = prof_clock.missed;
    uint64_t last = prof_clock.last_tsc, resume = prof_clock.resume_tsc;
    bool irregular = PROF_WITH_BUILTIN && prof_clock.irregular;

    prof_timebase_set(&prof_clock, prof_tsc(), period, counts);
    /* Ticks that were made up for before they were missed do not carry over. */
    prof_clock.missed =
        missed < tick.missed_before ? tick.missed_before : missed;
    if (PROF_WITH_BUILTIN)
        prof_clock.irregular = irregular;
    prof_clock.last_tsc = last;
    prof_clock.resume_tsc = resume;
    /* The timer begins anew just now: what was before is not on its grid. */
    prof_clock.grid_tsc = prof_clock.run_begin_tsc;
    tick.rate_mhz = rate_mhz;
}

#if PROF_WITH_BUILTIN
uint64_t prof_clock_cycles(uint32_t ms)
{
    return prof_divide(tick.tsc_hz, 1000) * ms;
}

void prof_clock_set_tsc_hz(uint64_t tsc_hz)
{
    tick.tsc_hz = tsc_hz;
}

uint64_t prof_clock_tsc_hz(void)
{
    return tick.tsc_hz;
}
#endif

uint32_t prof_clock_rate_mhz(void)
{
    return tick.rate_mhz;
}

void prof_clock_set_steady(bool steady)
{
    tick.steady = steady;
}

bool prof_clock_is_steady(void)
{
    return tick.steady;
}

uint64_t prof_clock_missed(void)
{
    int64_t missed = prof_clock.missed - tick.missed_before;

    return missed > 0 ? (uint64_t)missed : 0;
}

void prof_clock_reset(void)
{
    tick.missed_before = prof_clock.missed;
}
