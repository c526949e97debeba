/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CPUS_H
#define PROF_CPUS_H

/*
 * Several CPUs, in an image that is built with PROF_CPUS_MAX of more than 1
 * (<prof/config.h>).
 *
 * One CPU, number 0, is the profiler's: it calls prof_init(), prof_start() and
 * everything else, and its thread drains the vectors of all. Each other CPU
 * that is to be sampled joins, once it has what identifies it (PROF_CPU_BY):
 *
 *     on the first CPU                     on each other one
 *         config.cpus = 4;                     ltr, lidt
 *         load its TSS                         prof_cpu_join(number)
 *         prof_init(...)                       sti, and what it is for
 *         start the others:
 *             prof_cpu_answer() while it waits for each
 *         prof_start()
 *
 * Any order of prof_start() and joining will do, and CPUs may join and leave
 * while others are sampled. One that has not joined is not sampled: if it comes
 * to the profiler's interrupt or calls prof_sample(), nothing happens.
 *
 * By source of ticks (<prof/tick.h>): `hook` samples each CPU that calls
 * prof_sample(); `gate` each one that has the timer's vector, in an IDT of its
 * own or in a common one; `lapic` each one, by its own timer, from its next
 * prof_lapic_arm() or prof_cpu_poll() on; `nmi` all; `pit` and `own pit` only
 * the first, since it is that one's interrupt. A CPU that has joined and gets
 * no ticks has none in its account.
 *
 * What other CPUs may call, beside the calls below: prof_sample(),
 * prof_sample_user(), prof_space_set(), prof_stack_set() and prof_running(),
 * which are about the CPU that calls them, and those of <prof/loop.h> for its
 * own event loop, but not those that open, reset, set limits or report: these
 * do nothing there; and the events and the trigger of the recorder
 * (<prof/trace.h>). Events of causal profiling are the first CPU's: on others
 * these calls do nothing. Experiments are refused (PROF_ECAUSAL_CPUS).
 */

#include <prof/config.h>
#include <prof/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The option prof.cpu, unless it is set. */
#define PROF_CPU_ALL UINT32_MAX

/* What PROF_CPU_TSC_UNKNOWN cycles mean: they were not compared. */
#define PROF_CPU_TSC_UNKNOWN UINT32_MAX

/* One CPU since the last reset. */
struct prof_cpu_stats {
    bool joined;
    int64_t tsc_offset;  /* cycles to be added to its time stamp counter for
                            the first CPU's; 0 where it may be 0 */
    uint32_t tsc_error;  /* by so many at most it is wrong, or
                            PROF_CPU_TSC_UNKNOWN */
    uint64_t ticks;      /* its interrupts, */
    uint64_t attributed; /* which of them were in functions (a prof_stats()
                            takes masked ones and the profiler's own out), */
    uint64_t idle;
    uint64_t unresolved;
    uint64_t user;
    uint64_t dropped;
    uint64_t queued;
    uint64_t busy_cycles; /* time of its samples, but for idle ones, */
    uint64_t idle_cycles; /* of those, */
    uint64_t stolen_cycles;
    uint64_t missed; /* ticks that were due and did not come */
    uint64_t interrupt_cycles;
};

#if PROF_CPUS_MAX > 1

/*
 * The calling CPU is CPU (number), from 1 to config.cpus - 1, and is sampled
 * whenever sampling is started, from the first drain on that finds it: then
 * prof_running() says so there.
 *
 * Its time stamp counter is compared with the first CPU's, if that answers
 * within some 20 ms: in prof_cpu_answer(), or in prof_poll() or prof_drain().
 * If not, both are taken to agree, and prof_cpu_compare() may be called again.
 *
 * Contexts: the CPU that joins, once, interrupts off, after prof_init(). Its
 * TSS (or TSC_AUX) and its IDT are loaded. Returns 0; PROF_ESTATE before
 * prof_init(), where the number has joined, or where the event loop of another
 * CPU has begun to be counted as that number, or this CPU's as another one
 * (prof_cpu_poll()): it keeps its number; PROF_EVALUE for a number that there
 * is not; PROF_ECPU where what identifies it is also another CPU's;
 * PROF_EGATE; PROF_ELAPIC where the source needs a local APIC and there is
 * none; PROF_EABSENT where PROF_CPUS_MAX is 1.
 */
int prof_cpu_join(uint32_t number);

/* The calling CPU is not sampled any more; it may join again. What it has
 * sampled is kept. Contexts: as prof_cpu_join(). */
void prof_cpu_leave(void);

/* Answers CPUs that join. Contexts: first CPU, thread; for its wait until
 * another CPU has started. Returns at once if none asks, or in a millisecond
 * for each that does. */
void prof_cpu_answer(void);

/* Compares the time stamp counters again; the better result stays. False: the
 * first CPU did not answer, and nothing has changed. What is streamed already
 * has the offset of before. Contexts: as prof_cpu_join(), after it, before
 * prof_start(); returns in some 20 ms. */
bool prof_cpu_compare(void);

/*
 * Begins what the calling CPU, which has joined, must begin itself: sampling by
 * its own local APIC's timer, once that is what samples, and the statistics of
 * its event loop (<prof/loop.h>), of which it hands over a copy when the first
 * CPU has asked for one. Brings its part of the recorder's table of objects up
 * to its ring. To be called in each turn of that loop, outside tasks
 * and callbacks that are counted already at the first call; without a loop,
 * when a tick of the kernel's has come; and by a CPU that has no deadlines,
 * again after each prof_start(). Looks at a few flags where nothing is to be
 * done. Contexts: any CPU, thread.
 */
void prof_cpu_poll(void);

/* Whether the calling CPU is the first: causal profiling is about that one.
 * Contexts: any. */
bool prof_cpu_is_first(void);

/* Fills (stats) for CPU (number). False: there is none. Contexts: first CPU,
 * thread. */
bool prof_cpu_stats(uint32_t number, struct prof_cpu_stats *stats);

#else

/* With one CPU nobody joins it. */

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
