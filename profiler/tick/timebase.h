/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TIMEBASE_H
#define PROF_TIMEBASE_H

/*
 * The time base of samples: computes the time that each sample represents, the
 * number of missed ticks, and the real sampling period in TSC cycles.
 *
 * On a busy host ticks come late, in bursts, or not at all. A sample therefore
 * represents the time since the previous sample. To distinguish late from
 * missed ticks, samples are placed on a grid of periods that slowly follows
 * them. A sample that advances by several places has missed ticks before it; a
 * sample that does not advance is a tick delivered after all, as by KVM's PIT.
 * However much the ticks jitter, errors do not accumulate.
 *
 * The calibration of the TSC has an error of some parts per thousand on a noisy
 * host. Runs of ticks without a gap measure the period again; longer runs are
 * more accurate. If the period varies (jitter.h), the grid varies with it, and
 * a run ends with each change. The next run begins one tick later, so that the
 * time taken to program the timer is in neither.
 *
 * Plain arithmetic, no hardware.
 */

#include "base/cpu.h"

#include <stdbool.h>
#include <stdint.h>

struct prof_timebase {
    uint64_t last_tsc;   /* when the last sample accounted for was taken */
    uint64_t resume_tsc; /* when sampling was last started or reset */
    uint64_t nominal;    /* cycles per sampling period by calibration, 24.8 */
    uint64_t period;     /* the same as measured; nominal until then, 24.8 */
    uint32_t divisor;    /* that period in counts of the source, the mean */
    uint32_t counts;     /* those of the period in force */
    uint32_t step;       /* cycles of the period in force */
    uint64_t grid_tsc;   /* the grid's place of the last sample; 0 = none */
    uint64_t gap;        /* of the cycles of the last step or skip: beyond one
                            period for each sample, where ticks were missed;
                            else 0 */
    int64_t missed;      /* ticks due and not delivered, since the reset, as it
                            were at the mean period */
    uint32_t missed_counts; /* of one more, in counts of the source */
    bool irregular;         /* there is no period: no tick is missed */
    bool interrupted;       /* prof_timebase_interrupt() set resume_tsc, and no
                               sample after it was read. PROF_WITH_NMI */
    bool run_begun;
    uint64_t run_begin_tsc; /* first tick of the present run without a gap */
    uint32_t run_ticks;     /* ticks since then */
    uint32_t regular_ticks; /* while run_ticks is below this, a sample near the
                               grid's next place needs no closer look; 0 = each
                               one does */
    uint64_t run_cycles;    /* sum over runs that were long enough, as it were
                               at the mean period */
    uint32_t run_total;     /* ticks in them */
};

/* Shortest run of gapless ticks that is used: one that ends with a gap, and one
 * that ends because the period changes. Of the latter so many ticks are needed
 * together: a busy host makes the ends of a run late. */
#define PROF_RUN_MIN 128u
#define PROF_RUN_CHANGE_MIN 16u
#define PROF_RUNS_MIN 512u

/* The grid follows a sample by one part in 2^this of the distance, which is
 * rounded down. */
#define PROF_GRID_INERTIA_SHIFT 4

/* Fixed point of nominal and period: cycles * 256. */
#define PROF_PERIOD_SHIFT 8

/* Restarts at (tsc): a period has (divisor) counts of the source, and takes
 * (nominal) cycles, a 24.8 number, by the known frequencies of both clocks. */
void prof_timebase_set(struct prof_timebase *time, uint64_t tsc,
                       uint64_t nominal, uint32_t divisor);

/* Sets the period to (counts) counts of the source, from the last sample on. */
void prof_timebase_change(struct prof_timebase *time, uint32_t counts);

/* Sets whether ticks are irregular: no tick counts as missed, and no time as a
 * gap. */
void prof_timebase_irregular(struct prof_timebase *time, bool irregular);

/* Resumes sampling at (tsc); no sample represents the pause before. */
void prof_timebase_resume(struct prof_timebase *time, uint64_t tsc);

/* Like prof_timebase_resume(), if sampling was not stopped, and samples from
 * before the pause may still be queued. PROF_WITH_NMI. */
void prof_timebase_interrupt(struct prof_timebase *time, uint64_t tsc);

/* Accounts for the sample taken at (tsc) and returns the cycles that it
 * represents. */
uint64_t prof_timebase_step(struct prof_timebase *time, uint64_t tsc);

/* The fast path of prof_timebase_step() for most samples, which are near the
 * next place of the grid: stores the result in *cycles. Returns false, without
 * effect, if prof_timebase_step() must be called. */
static inline bool prof_timebase_step_regular(struct prof_timebase *time,
                                              uint64_t tsc, uint64_t *cycles)
{
    uint64_t ahead = tsc - time->grid_tsc;
    uintptr_t late = (uintptr_t)ahead - time->step;

    /* in machine words, which may be half as wide */
    if ((sizeof late < sizeof ahead && ahead >> 32 != 0) ||
        late + time->step / 2 >= time->step ||
        time->run_ticks >= time->regular_ticks)
        return false;
    time->run_ticks++;
    time->grid_tsc +=
        time->step + (uint32_t)((int32_t)late >> PROF_GRID_INERTIA_SHIFT);
    *cycles = tsc - time->last_tsc;
    time->last_tsc = tsc;
    return true;
}

/* Accounts for (count) samples of which only the time of the last, (tsc), is
 * known. */
void prof_timebase_skip(struct prof_timebase *time, uint64_t tsc,
                        uint32_t count);

/* Returns the cycles in (counts), by the measured period of (divisor)
 * counts. */
static inline uint64_t prof_timebase_cycles(const struct prof_timebase *time,
                                            uint32_t divisor, uint32_t counts)
{
    return prof_divide(time->period * counts, divisor) >> PROF_PERIOD_SHIFT;
}

#endif
