/* SPDX-License-Identifier: Apache-2.0 */

/* Weights, missed ticks and the measured period; see timebase.h. */

#include "tick/timebase.h"

#include "base/cpu.h"

#include <prof/config.h>
#include <stdbool.h>

/* Beyond this many ticks old runs count half, as the TSC's rate may drift. */
#define RUN_TOTAL_MAX (1u << 20)

/* Ticks after which a run is cut. */
#define RUN_MAX (PROF_RUN_MIN * 8)

/* Whether a period has counts, which a source may change; else it is one. */
#define HAS_COUNTS PROF_WITH_PIT

/* After a gap of more places than this the grid begins anew. */
#define GRID_GAP_MAX 64

static void set_step(struct prof_timebase *time)
{
    uint64_t step = time->period;

    if (HAS_COUNTS && time->counts != time->divisor)
        step = prof_divide(step * time->counts, time->divisor);
    time->step = (uint32_t)(step >> PROF_PERIOD_SHIFT);
}

void prof_timebase_set(struct prof_timebase *time, uint64_t tsc,
                       uint64_t nominal, uint32_t divisor)
{
    *time = (struct prof_timebase){.last_tsc = tsc, .resume_tsc = tsc};
    time->nominal = time->period = nominal;
    time->divisor = time->counts = divisor;
    time->run_begin_tsc = tsc;
    time->run_begun = true;
    set_step(time);
}

void prof_timebase_resume(struct prof_timebase *time, uint64_t tsc)
{
    time->resume_tsc = tsc;
    time->regular_ticks = 0;
    if (PROF_WITH_NMI)
        time->interrupted = false;
}

#if PROF_WITH_NMI
void prof_timebase_interrupt(struct prof_timebase *time, uint64_t tsc)
{
    prof_timebase_resume(time, tsc);
    time->interrupted = true;
}
#endif

#if PROF_WITH_BUILTIN
void prof_timebase_irregular(struct prof_timebase *time, bool irregular)
{
    if (irregular == time->irregular)
        return;
    time->irregular = irregular;
    time->grid_tsc = 0;
    time->regular_ticks = 0;
    time->run_begun = false;
}
#endif

static void use_run(struct prof_timebase *time)
{
    uint64_t cycles = time->last_tsc - time->run_begin_tsc;

    if (HAS_COUNTS && time->counts != time->divisor)
        cycles = prof_divide(cycles * time->divisor, time->counts);
    time->run_cycles += cycles;
    time->run_total += time->run_ticks;
    if (time->run_ticks < PROF_RUN_MIN && time->run_total < PROF_RUNS_MIN)
        return;
    time->period =
        prof_divide(time->run_cycles << PROF_PERIOD_SHIFT, time->run_total);
    if (time->run_total > RUN_TOTAL_MAX) {
        time->run_cycles /= 2;
        time->run_total /= 2;
    }
    set_step(time);
}

/* A run ends, and is used if it has (least) ticks; the next begins. */
static void end_run(struct prof_timebase *time, uint64_t next_begin,
                    uint32_t least)
{
    if (time->run_begun && time->run_ticks >= least)
        use_run(time);
    time->run_begun = true;
    time->run_begin_tsc = next_begin;
    time->run_ticks = 0;
}

void prof_timebase_change(struct prof_timebase *time, uint32_t counts)
{
    if (!HAS_COUNTS || counts == time->counts)
        return;
    end_run(time, time->last_tsc, PROF_RUN_CHANGE_MIN);
    time->run_begun = false;
    time->regular_ticks = 0;
    time->grid_tsc = time->last_tsc;
    time->counts = counts;
    set_step(time);
}

/* The time before the last (re)start is in no account. */
static uint64_t since_last(struct prof_timebase *time, uint64_t tsc)
{
    if (time->last_tsc < time->resume_tsc && tsc >= time->resume_tsc) {
        end_run(time, time->resume_tsc, PROF_RUN_MIN);
        time->last_tsc = time->resume_tsc;
        time->grid_tsc = 0;
    }
    return tsc - time->last_tsc;
}

/*
 * Moves the grid to its place nearest to (tsc) and returns by how many it has
 * advanced. The first sample sets it, and so does one after so long a gap that
 * the period's own error would have added up.
 */
static uint64_t advance_grid(struct prof_timebase *time, uint64_t tsc,
                             uint64_t cycles)
{
    uint32_t period = time->step;
    uint64_t from = time->grid_tsc != 0 ? time->grid_tsc : tsc - cycles;
    uint64_t ahead = tsc - from + period / 2, places = 0;

    if ((int64_t)ahead > 0)
        places = prof_divide(ahead, period);
    if (time->grid_tsc == 0 || places > GRID_GAP_MAX) {
        time->grid_tsc = tsc;
        return places > 0 ? places : 1;
    }
    time->grid_tsc += places * period;
    time->grid_tsc +=
        (uint64_t)((int64_t)(tsc - time->grid_tsc) >> PROF_GRID_INERTIA_SHIFT);
    return places;
}

/*
 * (ticks) more of the period in force were missed, or fewer. With as many of
 * the mean period, samples and missed ticks add up to those that the rate
 * promises, whichever period was in force when the host took its time.
 */
static void count_missed(struct prof_timebase *time, int64_t ticks)
{
    int64_t counts = time->missed_counts + ticks * (int64_t)time->counts;
    uint32_t divisor = time->divisor;
    int64_t whole;

    if (!HAS_COUNTS || ticks == 0) {
        time->missed += ticks;
        return;
    }
    if (counts >= 0)
        whole = (int64_t)prof_divide((uint64_t)counts, divisor);
    else /* rounded down, too */
        whole = -(int64_t)prof_divide((uint64_t)-counts + divisor - 1, divisor);
    time->missed += whole;
    time->missed_counts = (uint32_t)(counts - whole * divisor);
}

uint64_t prof_timebase_step(struct prof_timebase *time, uint64_t tsc)
{
    uint64_t cycles = since_last(time, tsc);
    uint64_t places;

    if (PROF_WITH_BUILTIN && time->irregular) {
        time->gap = 0;
        time->last_tsc = tsc;
        return cycles;
    }
    places = advance_grid(time, tsc, cycles);
    count_missed(time, (int64_t)places - 1);
    time->gap = places > 1 && cycles > time->step ? cycles - time->step : 0;
    if (places != 1 || !time->run_begun)
        end_run(time, tsc, PROF_RUN_MIN);
    else
        time->run_ticks++;
    /* A tick after a gap is late: the run begins with the one after it. */
    time->run_begun = places == 1;
    time->last_tsc = tsc;
    /* Long runs are cut, so that they are used in time. */
    if (time->run_ticks == RUN_MAX)
        end_run(time, tsc, PROF_RUN_MIN);
    time->regular_ticks =
        time->run_begun && tsc >= time->resume_tsc ? RUN_MAX - 1 : 0;
    return cycles;
}

void prof_timebase_skip(struct prof_timebase *time, uint64_t tsc,
                        uint32_t count)
{
    bool paused = time->last_tsc < time->resume_tsc && tsc >= time->resume_tsc;
    uint64_t cycles = since_last(time, tsc);
    bool irregular = PROF_WITH_BUILTIN && time->irregular;
    uint64_t places = irregular ? 0 : advance_grid(time, tsc, cycles);
    uint64_t covered = (uint64_t)count * time->step;

    time->gap = 0;
    /* It is not known how many of them came before the pause. */
    if (!paused && !irregular) {
        count_missed(time, (int64_t)places - (int64_t)count);
        if (places > count && cycles > covered)
            time->gap = cycles - covered;
    }
    end_run(time, tsc, PROF_RUN_MIN);
    time->last_tsc = tsc;
    time->regular_ticks = 0;
}
