/* SPDX-License-Identifier: Apache-2.0 */

/* Weights, missed ticks and the measured period; see timebase.h. */

#include "timebase.h"

#include "cpu.h"

#include <prof/prof.h>

/* Beyond this many ticks old runs count half: the TSC's rate may drift. */
#define RUN_TOTAL_MAX (1u << 20)

void prof_timebase_set(struct prof_timebase *time, uint64_t tsc,
                       uint64_t tsc_hz, uint32_t divisor)
{
    *time = (struct prof_timebase){ .last_tsc = tsc, .resume_tsc = tsc };
    time->nominal =
        prof_divide((tsc_hz << PROF_PERIOD_SHIFT) * divisor, PROF_PIT_HZ);
    time->period = time->nominal;
    time->run_begin_tsc = tsc;
}

void prof_timebase_resume(struct prof_timebase *time, uint64_t tsc)
{
    time->resume_tsc = tsc;
}

/* Adds the run that just ended, if it is long enough to be believed. */
static void end_run(struct prof_timebase *time, uint64_t next_begin)
{
    if (time->run_ticks >= PROF_RUN_MIN) {
        time->run_cycles += time->last_tsc - time->run_begin_tsc;
        time->run_total += time->run_ticks;
        time->period = prof_divide(time->run_cycles << PROF_PERIOD_SHIFT,
                                   time->run_total);
        if (time->run_total > RUN_TOTAL_MAX) {
            time->run_cycles /= 2;
            time->run_total /= 2;
        }
    }
    time->run_begin_tsc = next_begin;
    time->run_ticks = 0;
}

/* Whole periods in (cycles), rounded to the nearest. */
static int64_t periods_in(const struct prof_timebase *time, uint64_t cycles)
{
    uint32_t period = (uint32_t)(time->period >> PROF_PERIOD_SHIFT);

    return (int64_t)prof_divide(cycles + period / 2, period);
}

/* The time before the last (re)start is nobody's. */
static uint64_t since_last(struct prof_timebase *time, uint64_t tsc)
{
    if (time->last_tsc < time->resume_tsc && tsc >= time->resume_tsc) {
        end_run(time, time->resume_tsc);
        time->last_tsc = time->resume_tsc;
    }
    return tsc - time->last_tsc;
}

uint64_t prof_timebase_step(struct prof_timebase *time, uint64_t tsc)
{
    uint64_t cycles = since_last(time, tsc);
    uint32_t half = (uint32_t)(time->period >> (PROF_PERIOD_SHIFT + 1));

    if (cycles - half < (uint64_t)half * 2) {
        time->run_ticks++;
        time->last_tsc = tsc;
        /* Long runs are cut, so that what they tell is used in time. */
        if (time->run_ticks == PROF_RUN_MIN * 8)
            end_run(time, tsc);
        return cycles;
    }
    time->missed += periods_in(time, cycles) - 1;
    end_run(time, tsc);
    time->last_tsc = tsc;
    return cycles;
}

void prof_timebase_skip(struct prof_timebase *time, uint64_t tsc,
                        uint64_t count)
{
    uint64_t cycles = since_last(time, tsc);

    time->missed += periods_in(time, cycles) - (int64_t)count;
    end_run(time, tsc);
    time->last_tsc = tsc;
}

uint64_t prof_timebase_cycles(const struct prof_timebase *time,
                              uint32_t divisor, uint32_t counts)
{
    return prof_divide(time->period * counts, divisor) >> PROF_PERIOD_SHIFT;
}
