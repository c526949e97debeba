/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CLOCK_H
#define PROF_CLOCK_H

/* The clock of samples: each CPU's time base, and the rate that they are for.
 * The source of ticks sets it, the drain steps it. Contexts: thread. */

#include "sample/cpus.h"
#include "tick/timebase.h"

#include <stdbool.h>

extern struct prof_timebase prof_clocks[PROF_CPUS_MAX];

/* The time base of (cpu). Written by tick/, and by the drain through the calls
 * of timebase.h. Missed ticks are since prof_init(). */
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

/* The same, with periods in counts of the PIT's clock, whatever timer keeps
 * them: (counts) is programmed, (kept) is what the machine makes of it.
 * PROF_WITH_PIT. */
void prof_clock_set_counts(uint32_t counts, uint32_t kept);

/* What the clocks of all CPUs share. Set by the source. */
struct prof_clock_common {
    uint64_t tsc_hz;   /* frequency of the TSC as it is known */
    uint32_t rate_mhz; /* the rate in force in 1/1000 Hz */
    bool by_nmi;       /* ticks that interrupts off do not hold back */
#if PROF_CPUS_MAX > 1
    bool common; /* one timer ticks on all CPUs, and its period is known in the
                    first one's vector only */
    bool apart;  /* each CPU has a timer of its own, whose period varies by
                    itself and is in no other CPU's vector */
#endif
    bool steady; /* the period varies too little to keep samples from
                          running in step with the program */
};

extern struct prof_clock_common prof_clock;

/*
 * The time stamp counter's frequency in Hz: what prof_tsc_hz_stated() finds
 * (<prof/kvm.h>), what channel 2 of the PIT shows in some 30 ms, or the CPU's
 * nominal frequency (CPUID leaf 0x16). 0: none of these. Port 0x61, the
 * speaker's, is as before. PROF_WITH_BUILTIN. Contexts: boot.
 */
uint64_t prof_calibrate(bool physical, uintptr_t image_offset);

/* (cpu), which is not the first, is sampled from (tsc) on, by its counter;
 * ticks that it has missed before are kept. PROF_CPUS_MAX > 1. Contexts: the
 * drain, its vector drained. */
void prof_clock_join(struct prof_cpu *cpu, uint64_t tsc);

/* The current CPU, (cpu), leaves, and gets no more ticks; then the drain, which
 * has read all of its samples, lets it go. What it has missed is kept.
 * PROF_CPUS_MAX > 1. */
void prof_clock_leave(const struct prof_cpu *cpu);
void prof_clock_let_go(const struct prof_cpu *cpu);

/*
 * No ticks have come for a while on any CPU, and now they will again: that time
 * is in no sample, and no tick in it counts as missed. The stream begins again
 * between the samples of before and after. PROF_WITH_NMI. Contexts: the drain.
 */
void prof_clock_interrupt(void);

/* Ticks that were due on (cpu) and not delivered since the last reset. */
uint64_t prof_clock_missed(const struct prof_cpu *cpu);

/* Those that are not in its time base, since the first CPU's timer ticks on it;
 * all since prof_init(). */
#if PROF_CPUS_MAX > 1
uint64_t prof_clock_merged(const struct prof_cpu *cpu);
#else
#define prof_clock_merged(cpu) ((void)(cpu), (uint64_t)0)
#endif

/* From now on they count from 0 again. */
void prof_clock_reset(void);

#endif
