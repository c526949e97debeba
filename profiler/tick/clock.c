/* SPDX-License-Identifier: Apache-2.0 */

/* The time base in force, the rate, and what is counted of the source. */

#include "tick/clock.h"

#include "base/cpu.h"
#include "sample/cpu_state.h"

struct prof_timebase prof_clock;

static struct {
    uint32_t rate_mhz;
    bool steady;
    struct prof_tick_stats counted; /* since prof_init() */
    struct prof_tick_stats before;  /* of them, at the last reset */
    int64_t missed_before;          /* prof_clock.missed then */
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

    prof_timebase_set(&prof_clock, prof_tsc(), period, counts);
    /* Ticks that were made up for before they were missed do not carry over. */
    prof_clock.missed =
        missed < tick.missed_before ? tick.missed_before : missed;
    prof_clock.last_tsc = last;
    prof_clock.resume_tsc = resume;
    /* The timer begins anew just now: what was before is not on its grid. */
    prof_clock.grid_tsc = prof_clock.run_begin_tsc;
    tick.rate_mhz = rate_mhz;
}

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

struct prof_tick_stats prof_tick_stats(void)
{
    return (struct prof_tick_stats){
        .gate_taken_back =
            tick.counted.gate_taken_back - tick.before.gate_taken_back,
        .pit_taken_back =
            tick.counted.pit_taken_back - tick.before.pit_taken_back,
    };
}

void prof_tick_reset(void)
{
    tick.before = tick.counted;
    tick.missed_before = prof_clock.missed;
}

void prof_tick_count_gate(void)
{
    tick.counted.gate_taken_back++;
}

void prof_tick_count_pit(void)
{
    tick.counted.pit_taken_back++;
}

/* The newest entry of the vector; the first time, one that is all zeros. */
static uint64_t newest_stored(void)
{
    const struct prof_ring *ring = &prof_cpus[0].ring;

    return prof_entry_tsc(prof_ring_before(ring, ring->head));
}

/* Two words on i386, between which a tick may write both; so they are read
 * again if one came. Turning interrupts off would not stop an NMI. */
uint64_t prof_newest_tsc(void)
{
    uint64_t stored, overflowed;
    uint32_t ticks;

    do {
        ticks = __atomic_load_n(&prof_cpus[0].ticks, __ATOMIC_ACQUIRE);
        stored = newest_stored();
        overflowed = prof_overflow_newest(&prof_cpus[0].overflow);
        __atomic_signal_fence(__ATOMIC_ACQ_REL);
    } while (__atomic_load_n(&prof_cpus[0].ticks, __ATOMIC_ACQUIRE) != ticks);
    return stored > overflowed ? stored : overflowed;
}

bool prof_newest_waits(void)
{
    return newest_stored() > prof_clock.last_tsc;
}
