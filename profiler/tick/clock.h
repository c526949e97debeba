/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CLOCK_H
#define PROF_CLOCK_H

/*
 * The clock of samples: each CPU's time base, and the rate that they are for.
 * The source of ticks sets it, the drain steps it with each sample. Contexts:
 * thread.
 */

#include "sample/cpu_state.h"
#include "tick/timebase.h"

#include <stdbool.h>

extern struct prof_timebase prof_clocks[PROF_CPUS_MAX];

/* The time base of (cpu). Written by tick/, and by the drain through the calls
 * of timebase.h. Its count of missed ticks is since prof_init() and unknown to
 * resets. */
static inline struct prof_timebase *prof_clock_of(const struct prof_cpu *cpu)
{
    return &prof_clocks[prof_cpu_number(cpu)];
}

/* Before anything else, at (tsc). */
void prof_clock_open(uint64_t tsc);

/*
 * Measures the period anew from now on: (period) TSC cycles as a 24.8 number
 * for (counts) of the source's own, at (rate_mhz). What was counted as missed
 * stays. Contexts: vector drained.
 */
void prof_clock_set(uint64_t period, uint32_t counts, uint32_t rate_mhz);

/* Cycles in (ms), of the TSC as it is known. */
uint64_t prof_clock_cycles(uint32_t ms);

/* That is (tsc_hz); set by the source. */
void prof_clock_set_tsc_hz(uint64_t tsc_hz);
uint64_t prof_clock_tsc_hz(void);

/* The rate in force in 1/1000 Hz. */
uint32_t prof_clock_rate_mhz(void);

/* Whether the period varies too little to keep samples from running in step
 * with the program; set by the source when it programs its timer. */
void prof_clock_set_steady(bool steady);
bool prof_clock_is_steady(void);

/* Ticks that were due and not delivered since the last reset. */
uint64_t prof_clock_missed(void);

/* From now on they count from 0 again. */
void prof_clock_reset(void);

#endif
