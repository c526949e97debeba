/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DRAIN_H
#define PROF_DRAIN_H

/* The internal interface of the drain; for prof_drain() see <prof/prof.h>. */

#include "sample/cpus.h"

#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

/* The state of the drain, common to all CPUs. Written by drain.c only. */
struct prof_drain_state {
    bool open;          /* prof_drain_open() was called */
    bool draining;      /* inside prof_drain() */
    bool dying;         /* in a panic: no allocations */
    bool behind;        /* the last drain has left samples for the next */
    uint64_t ended_tsc; /* TSC at the end of the last drain */
    uint64_t longest;   /* most cycles between two drains, while sampling */
    uint32_t most;      /* most samples that one drain reads */
};

extern struct prof_drain_state prof_drain_state;

/* Initialises this module for the image in (config); before any other call.
 * Contexts: boot, once. */
void prof_drain_open(const struct prof_config *config);
static inline bool prof_drain_is_open(void)
{
    return prof_drain_state.open;
}

/* Drains once, as prof_drain() does. Contexts: thread. */
void prof_drain_once(void);

/* Returns whether the last drain has left samples. Contexts: thread. */
static inline bool prof_drain_is_behind(void)
{
    return prof_drain_state.behind;
}

/* Drains in the interrupt, when no call of the profiler is in progress, and
 * task recorder, loop statistics and experiments are off. Ends after (cycles),
 * checked every four samples; 0: after as much as a normal drain. Returns
 * whether it has left samples. PROF_WITH_BUILTIN. */
bool prof_drain_in_tick(uint64_t cycles);

/* Returns the TSC at the end of the last drain, while none is in progress.
 * PROF_WITH_BUILTIN. */
static inline uint64_t prof_drain_ended(void)
{
    return prof_drain_state.ended_tsc;
}

/* Returns the longest time between two drains since the last reset, in cycles,
 * while sampling. PROF_WITH_BUILTIN. */
static inline uint64_t prof_drain_longest(void)
{
    return prof_drain_state.longest;
}

/* Drains all samples queued now, in as many drains as needed. Contexts:
 * thread. */
void prof_drain_whole(void);

/*
 * Drains for the last time, in a panic: emits the queued samples without
 * allocating, and without callers for new stacks. If the panic interrupted a
 * drain, which leaves the tables in an unknown state, all samples are emitted
 * without callers, and those in the overflow table count as discarded. Later
 * drains do nothing. PROF_WITH_STREAM.
 */
void prof_drain_last(void);

/* Returns whether samples of (cpu) are drained: it is the first, or has joined
 * and was found. Contexts: thread. */
#if PROF_CPUS_MAX == 1
static inline bool prof_drain_reads(const struct prof_cpu *cpu)
{
    (void)cpu;
    return true;
}
#else
bool prof_drain_reads(const struct prof_cpu *cpu);
#endif

/* Clears the stack tree, but not the accounts, which only grow (accounts.h).
 * Contexts: thread. */
void prof_drain_clear(void);

/* Discards the samples in the vector and the overflow table, and returns their
 * number. Contexts: thread, no drain in progress. */
uint64_t prof_drain_discard(void);

/* Returns the ticks counted by the producers of all CPUs since prof_init(),
 * extended to 64 bits. MUST be called once in 2^32 ticks of each CPU; each
 * drain does. Contexts: thread. */
uint64_t prof_ticks(void);

/* Counts of the interrupt of a CPU since prof_init(). */
struct prof_sample_counts {
    uint64_t ticks;
    uint64_t dropped;          /* by the interrupt, or for lack of memory */
    uint64_t interrupt_cycles; /* prof_sampler_cycles() */
};

/* Fills (counts) for (cpu), and returns the number of samples in its vector and
 * its overflow table, all as of the same tick. Contexts: thread. */
uint64_t prof_count_samples(const struct prof_cpu *cpu,
                            struct prof_sample_counts *counts);

/* ---- stolen.c: stolen time, which is charged to no sample. Contexts: the
 * drain. */

/* Initialises the account of (cpu), before its first sample. */
void prof_stolen_open(struct prof_cpu *cpu);

/* Reads KVM's account of stolen time (tick/kvm.h), before samples of (cpu) are
 * drained and after all earlier ones. */
void prof_stolen_measure(struct prof_cpu *cpu);

/* Returns the cycles charged to a sample of (cpu) at (pc), which covers
 * (cycles), of which the last (gap) are beyond one period, as computed by
 * prof_timebase_step(). */
uint64_t prof_stolen_charge(struct prof_cpu *cpu, uintptr_t pc, uint64_t cycles,
                            uint64_t gap);

/* Like prof_stolen_charge(), for (samples) samples of the overflow table, which
 * cover (cycles) together, at (pc), 0 = anywhere. *gap is the time that can be
 * stolen from their half, and is reduced by the time stolen from these. */
uint64_t prof_stolen_charge_all(struct prof_cpu *cpu, uintptr_t pc,
                                uint32_t samples, uint64_t cycles,
                                uint64_t *gap);

/* Returns the number of callers recorded with each sample, 0 = none. */
static inline uint32_t prof_drain_depth(void)
{
    return PROF_CPU_FIRST->depth;
}

#endif
