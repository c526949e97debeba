/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CLOCK_H
#define PROF_CLOCK_H

/* The clock of samples: the time base of each CPU, and the sampling rate. The
 * source of ticks sets it, and the drain advances it. Contexts: thread. */

#include "sample/cpus.h"
#include "tick/timebase.h"

#include <stdbool.h>

extern struct prof_timebase prof_clocks[PROF_CPUS_MAX];

/* Returns the time base of (cpu). Written by tick/, and by the drain through
 * the calls of timebase.h. Its missed ticks count since prof_init(). */
static inline struct prof_timebase *prof_clock_of(const struct prof_cpu *cpu)
{
    return &prof_clocks[prof_cpu_number(cpu)];
}

/* Initialises the clock at (tsc), before all other calls. */
void prof_clock_open(uint64_t tsc);

/*
 * Sets a new period, and measures it from now on: (period) TSC cycles, a 24.8
 * fixed-point number, for (counts) counts of the source's clock, at (rate_mhz).
 * Keeps the count of missed ticks. Contexts: vector drained.
 */
void prof_clock_set(uint64_t period, uint32_t counts, uint32_t rate_mhz);

/* Like prof_clock_set(), with periods in counts of the PIT's clock for any
 * timer: (counts) is programmed, and (kept) is the period that the machine
 * actually keeps. PROF_WITH_PIT. */
void prof_clock_set_counts(uint32_t counts, uint32_t kept);

/* Shared by the clocks of all CPUs. Set by the source. */
struct prof_clock_common {
    uint64_t tsc_hz;   /* TSC frequency in Hz */
    uint32_t rate_mhz; /* the rate in force in 1/1000 Hz */
    bool by_nmi;       /* ticks are delivered while interrupts are off */
#if PROF_CPUS_MAX > 1
    bool common; /* one timer ticks on all CPUs; only the first CPU's vector
                    records its periods */
    bool apart;  /* each CPU has a timer of its own, whose period varies
                    independently, and is in no other CPU's vector */
#endif
    bool steady; /* the period varies too little to keep samples from
                          running in step with the program */
};

extern struct prof_clock_common prof_clock;

/*
 * Returns the TSC frequency in Hz from the first of these that is available:
 * prof_tsc_hz_stated() (<prof/kvm.h>), a measurement against channel 2 of the
 * PIT in some 30 ms, or the CPU's nominal frequency (CPUID leaf 0x16); 0 if
 * none is. Restores port 0x61, the speaker's. PROF_WITH_BUILTIN. Contexts:
 * boot.
 */
uint64_t prof_calibrate(bool physical, uintptr_t image_offset);

/* Begins to sample (cpu), which is not the first, at (tsc) of its own TSC.
 * Keeps its count of missed ticks. PROF_CPUS_MAX > 1. Contexts: the drain, the
 * CPU's vector drained. */
void prof_clock_join(struct prof_cpu *cpu, uint64_t tsc);

/* The current CPU, (cpu), leaves, and gets no more ticks; then the drain, which
 * has read all of its samples, lets it go. What it has missed is kept.
 * PROF_CPUS_MAX > 1. */
void prof_clock_leave(const struct prof_cpu *cpu);
void prof_clock_let_go(const struct prof_cpu *cpu);

/*
 * Ends a gap in which no ticks came on any CPU: no sample covers that time, and
 * no tick in it counts as missed. In the stream, sampling restarts between the
 * samples before and after the gap. PROF_WITH_NMI. Contexts: the drain.
 */
void prof_clock_interrupt(void);

/* Returns the ticks that were due on (cpu) and not delivered since the last
 * reset. */
uint64_t prof_clock_missed(const struct prof_cpu *cpu);

/* Returns the ticks of the first CPU's timer, since prof_init(), that (cpu) did
 * not get: they are not in its time base. */
#if PROF_CPUS_MAX > 1
uint64_t prof_clock_merged(const struct prof_cpu *cpu);
#else
#define prof_clock_merged(cpu) ((void)(cpu), (uint64_t)0)
#endif

/* Resets these counts to 0. */
void prof_clock_reset(void);

#endif
