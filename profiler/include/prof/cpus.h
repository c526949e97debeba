/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CPUS_H
#define PROF_CPUS_H

/*
 * Sampling several CPUs, in an image that is built with PROF_CPUS_MAX above 1
 * (<prof/config.h>).
 *
 * The first CPU, number 0, controls the profiler: it calls prof_init(),
 * prof_start() and everything else, and its thread drains the vectors of all
 * CPUs. Each other CPU that is to be sampled joins, once the register that
 * identifies it is loaded (PROF_CPU_BY):
 *
 *     on the first CPU                     on each other one
 *         config.cpus = 4;                     ltr, lidt
 *         load its TSS                         prof_cpu_join(number)
 *         prof_init(...)                       sti, and its own work
 *         start the others:
 *             prof_cpu_answer() while it waits for each
 *         prof_start()
 *
 * CPUs may join before or after prof_start(), and may join and leave while
 * others are sampled. A CPU that has not joined is not sampled: the profiler's
 * interrupt and prof_sample() have no effect there.
 *
 * The source of ticks (<prof/tick.h>) determines which of the CPUs that have
 * joined are sampled:
 *   hook           each CPU that calls prof_sample()
 *   gate           each CPU that receives the timer's vector, with an IDT of
 *                  its own or a shared one
 *   lapic          each CPU, by its own timer, from its next prof_lapic_arm()
 *                  or prof_cpu_poll() on
 *   nmi            all CPUs
 *   pit, own pit   the first CPU only, which receives the PIT's interrupt
 *
 * Other CPUs may call the functions below, and
 *   - prof_sample(), prof_sample_user(), prof_space_set(), prof_stack_set() and
 *     prof_running(), which apply to the calling CPU
 *   - the calls of <prof/loop.h> for their own event loop; those that open,
 *     reset, set limits or report have no effect there
 *   - the events and the trigger of the task recorder (<prof/trace.h>)
 * Events of causal profiling have no effect on other CPUs, and experiments are
 * refused if config.cpus is more than 1 (PROF_ECAUSAL_CPUS).
 */

#include <prof/config.h>
#include <prof/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Default of the option prof.cpu. */
#define PROF_CPU_ALL UINT32_MAX

/* A tsc_error: the time stamp counters were not compared. */
#define PROF_CPU_TSC_UNKNOWN UINT32_MAX

/* Counts of one CPU since the last reset. */
struct prof_cpu_stats {
    bool joined;
    int64_t tsc_offset;  /* cycles to add to its TSC for the first CPU's TSC; 0
                            if that lies within the error */
    uint32_t tsc_error;  /* largest error of tsc_offset in cycles, or
                            PROF_CPU_TSC_UNKNOWN */
    uint64_t ticks;      /* delivered; the sum of the next six members */
    uint64_t attributed; /* in named functions; unlike in prof_stats(), with
                            masked samples and the profiler's own */
    uint64_t idle;
    uint64_t unresolved;
    uint64_t user;
    uint64_t dropped;
    uint64_t queued;
    uint64_t busy_cycles; /* time of all samples but idle ones */
    uint64_t idle_cycles; /* time of idle samples */
    uint64_t stolen_cycles;
    uint64_t missed;           /* ticks that were due and never delivered */
    uint64_t interrupt_cycles; /* spent in the sampling interrupt */
};

#if PROF_CPUS_MAX > 1

/*
 * Joins the calling CPU as CPU (number), 1 to config.cpus - 1. While sampling
 * is started, it is sampled from the next drain on, and prof_running() returns
 * true there.
 *
 * Compares its time stamp counter with the first CPU's, if the first CPU
 * answers within some 20 ms, in prof_cpu_answer(), prof_poll() or prof_drain().
 * Otherwise the two are assumed to agree; call prof_cpu_compare() to try again.
 *
 * Contexts: the CPU that joins, once, interrupts off, after prof_init(), with
 * its TSS (or TSC_AUX) and IDT loaded. Returns 0 or
 *   PROF_ESTATE   called before prof_init(); (number) has joined already; or
 *                 the statistics of the event loop (prof_cpu_poll()) know
 *                 another CPU by (number), or this CPU by another number, which
 *                 they keep
 *   PROF_EVALUE   (number) is out of range
 *   PROF_ECPU     another CPU has the same TSS selector or TSC_AUX
 *   PROF_EGATE    the timer's IDT gate is not present
 *   PROF_ELAPIC   the source needs a local APIC, and there is none
 *   PROF_EABSENT  PROF_CPUS_MAX is 1
 */
int prof_cpu_join(uint32_t number);

/* Stops sampling the calling CPU; it may join again. Its samples are kept.
 * Contexts: as prof_cpu_join(). */
void prof_cpu_leave(void);

/* Answers CPUs that compare their time stamp counters: to be called while the
 * first CPU waits for another one to start. Returns at once if none asks;
 * otherwise takes a millisecond for each. Contexts: first CPU, thread. */
void prof_cpu_answer(void);

/* Compares the time stamp counters again, and keeps the more accurate result.
 * Returns false, without effect, if the first CPU did not answer. Takes up to
 * some 20 ms. What was streamed before has the previous offset; the next drain
 * emits the new one. Contexts: as prof_cpu_join(), after it, and before
 * prof_start(). */
bool prof_cpu_compare(void);

/*
 * Does the profiler's work that each CPU must do itself: starts sampling by its
 * own local APIC's timer, if that is the source; starts the statistics of its
 * event loop (<prof/loop.h>), and copies them when the first CPU has requested
 * that; updates its part of the task recorder's table of objects. Tests a few
 * flags if there is nothing to do.
 *
 * Call it in each turn of the CPU's event loop; the first time, outside tasks
 * and callbacks that report to <prof/loop.h>. Without an event loop, call it
 * after each of the kernel's ticks. A CPU without deadlines calls it again
 * after each prof_start(). Contexts: any CPU that has joined, thread.
 */
void prof_cpu_poll(void);

/* Returns whether the calling CPU is the first, to which causal profiling is
 * limited. Contexts: any. */
bool prof_cpu_is_first(void);

/* Fills (stats) for CPU (number), 0 to config.cpus - 1. Returns false if there
 * is no such CPU. Contexts: first CPU, thread. */
bool prof_cpu_stats(uint32_t number, struct prof_cpu_stats *stats);

#else

/* With one CPU, the same calls without effect. */

static inline int prof_cpu_join(uint32_t number)
{
    (void)number;
    return PROF_EABSENT;
}

static inline void prof_cpu_leave(void)
{
}

static inline void prof_cpu_answer(void)
{
}

static inline void prof_cpu_poll(void)
{
}

static inline bool prof_cpu_compare(void)
{
    return false;
}

static inline bool prof_cpu_is_first(void)
{
    return true;
}

static inline bool prof_cpu_stats(uint32_t number, struct prof_cpu_stats *stats)
{
    (void)number;
    (void)stats;
    return false;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
