/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DRAIN_H
#define PROF_DRAIN_H

/* The drain's internal interface; prof_drain() itself is in <prof/prof.h>. */

#include "sample/cpus.h"

#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

/* The drain's own state, whichever CPUs it reads. Written by drain.c alone. */
struct prof_drain_state {
    bool open;          /* prof_drain_open() was called */
    bool draining;      /* inside prof_drain() */
    bool dying;         /* the image panics: nothing is allocated */
    bool behind;        /* the last drain has left samples for the next */
    uint64_t ended_tsc; /* when the last drain ended */
    uint64_t longest;   /* cycles between two drains, while sampling */
    uint32_t most;      /* samples that one drain takes */
};

extern struct prof_drain_state prof_drain_state;

/* Initialises this room for the image in (config); before any other call.
 * Contexts: boot, once. */
void prof_drain_open(const struct prof_config *config);
static inline bool prof_drain_is_open(void)
{
    return prof_drain_state.open;
}

/* One drain, as prof_drain() makes it. Contexts: thread. */
void prof_drain_once(void);

/* Whether the last drain has left samples for the next. Contexts: thread. */
static inline bool prof_drain_is_behind(void)
{
    return prof_drain_state.behind;
}

/* A drain in the interrupt, where no call of the profiler is in progress, and
 * neither recorder, loop statistics nor experiments have a part in it. It ends
 * after (cycles), in portions of four samples; 0: after as much as any drain
 * takes. Returns whether it has left samples. PROF_WITH_BUILTIN. */
bool prof_drain_in_tick(uint64_t cycles);

/* When the last drain ended, while none is in progress. PROF_WITH_BUILTIN. */
static inline uint64_t prof_drain_ended(void)
{
    return prof_drain_state.ended_tsc;
}

/* The longest time between two drains since the last reset, in cycles, while
 * sampling. PROF_WITH_BUILTIN. */
static inline uint64_t prof_drain_longest(void)
{
    return prof_drain_state.longest;
}

/* Drains all that is queued now, in as many drains as that takes. Contexts:
 * thread. */
void prof_drain_whole(void);

/*
 * The last drain, in a panic: emits what is queued, without allocating; samples
 * of new stacks without callers. If the panic interrupted a drain, which leaves
 * the tables in an unknown state, all samples are, and those in the overflow
 * table count as discarded. Later drains do nothing. PROF_WITH_STREAM.
 */
void prof_drain_last(void);

/* Whether samples of (cpu) are drained: it is the first, or has joined and was
 * found. Contexts: thread. */
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

/* Ticks counted by the producers of all CPUs since prof_init(), extended to 64
 * bits. Must be called once in 2^32 ticks of each; each drain does. Contexts:
 * thread. */
uint64_t prof_ticks(void);

/* What the interrupt of a CPU counts, since prof_init(). */
struct prof_sample_counts {
    uint64_t ticks;
    uint64_t dropped;          /* by the interrupt, or for lack of memory */
    uint64_t interrupt_cycles; /* prof_sampler_cycles() */
};

/* Fills (counts) for (cpu), and returns how many samples are in its vector and
 * its overflow table: all as of the same tick. Contexts: thread. */
uint64_t prof_count_samples(const struct prof_cpu *cpu,
                            struct prof_sample_counts *counts);

/* ---- stolen.c: time that the host took, charged to no sample. Contexts: the
 * drain. */

/* Before the first sample of (cpu). */
void prof_stolen_open(struct prof_cpu *cpu);

/* Reads what KVM says was stolen (tick/kvm.h), before samples of (cpu) are
 * drained, all earlier ones having been. */
void prof_stolen_measure(struct prof_cpu *cpu);

/* What a sample of (cpu) at (pc) is charged that comes after (cycles), of which
 * the last (gap) are beyond one period, as prof_timebase_step() found. */
uint64_t prof_stolen_charge(struct prof_cpu *cpu, uintptr_t pc, uint64_t cycles,
                            uint64_t gap);

/* The same for (samples) samples of the overflow table, which cover (cycles)
 * together; at (pc), 0 = anywhere. *(gap) is what its half may lose, and is
 * reduced by what is taken from these. */
uint64_t prof_stolen_charge_all(struct prof_cpu *cpu, uintptr_t pc,
                                uint32_t samples, uint64_t cycles,
                                uint64_t *gap);

/* Callers recorded with each sample, 0 = none. */
static inline uint32_t prof_drain_depth(void)
{
    return PROF_CPU_FIRST->depth;
}

#endif
