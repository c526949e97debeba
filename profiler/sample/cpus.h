/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SAMPLE_CPUS_H
#define PROF_SAMPLE_CPUS_H

/*
 * Which CPUs are sampled (<prof/cpus.h>). A CPU that joins fills in its part of
 * the following, and says so with its last store (D). The drain, on the first
 * CPU, finds that (D') and takes it over: all that it keeps of a CPU is its
 * own. It also lets a CPU go that has left, once its vector is empty. So each
 * member has one writer at a time.
 */

#include "sample/cpu_state.h"

#include <prof/config.h>
#include <stdbool.h>
#include <stdint.h>

enum prof_cpu_state {
    PROF_CPU_FREE,   /* may join; then it writes what follows */
    PROF_CPU_JOINED, /* set by that CPU */
    PROF_CPU_LEFT,   /* set by that CPU; the drain sets it to FREE */
};

struct prof_cpu_link {
    /* Written by that CPU. */
    PROF_OWN_LINE uint32_t state;
    uint32_t key;        /* its index in prof_cpu_keys */
    uint64_t joined_tsc; /* by its own counter */
    int64_t tsc_offset;  /* to be added to its counter for the first CPU's */
    uint32_t tsc_error;  /* most that this is wrong by; UINT32_MAX: unknown */
    uint32_t idt_limit;
    uintptr_t idt;
    uint32_t ping; /* number of a question, 0 = none yet */
    uint32_t kept; /* 1 + the key of the CPU whose number this is for good */

    /* Written by the first CPU. */
    PROF_OWN_LINE uint64_t pong_tsc; /* its counter at */
    uint32_t pong;                   /* the answer to this question */
};

#if PROF_CPUS_MAX == 1

static inline uint32_t prof_cpu_count(void)
{
    return 1;
}

static inline bool prof_cpu_has_joined(const struct prof_cpu *cpu)
{
    (void)cpu;
    return true;
}

static inline int64_t prof_cpu_tsc_offset(const struct prof_cpu *cpu)
{
    (void)cpu;
    return 0;
}

#else

extern struct prof_cpu_link prof_cpu_links[PROF_CPUS_MAX];
extern uint32_t prof_cpu_limit; /* config.cpus; 0 before prof_init() */

/* CPUs that may join, and the first: their numbers are below that. */
static inline uint32_t prof_cpu_count(void)
{
    return prof_cpu_limit;
}

static inline struct prof_cpu_link *prof_cpu_link(const struct prof_cpu *cpu)
{
    return &prof_cpu_links[prof_cpu_number(cpu)];
}

static inline bool prof_cpu_has_joined(const struct prof_cpu *cpu)
{
    return __atomic_load_n(&prof_cpu_link(cpu)->state, __ATOMIC_ACQUIRE) ==
           PROF_CPU_JOINED; /* (D') */
}

static inline int64_t prof_cpu_tsc_offset(const struct prof_cpu *cpu)
{
    return prof_cpu_link(cpu)->tsc_offset;
}

/* Prepares (cpus) of them; the current one is the first. False: nothing
 * identifies it. Contexts: boot. */
bool prof_cpus_open(uint32_t cpus);

/* The current CPU, which has joined as (number), keeps that for good. Whether
 * it may join as (number): no other one has kept that, and it has no other. */
void prof_cpu_keep_number(uint32_t number);
bool prof_cpu_may_be(uint32_t number);

/* Whether the current CPU is (cpu), or was the last one that was. Contexts:
 * any. */
bool prof_cpu_was(const struct prof_cpu *cpu);

/* The current CPU is no longer (cpu), but PROF_CPU_NOBODY. Contexts: interrupts
 * off. */
void prof_cpus_forget(struct prof_cpu *cpu);

#endif

/* What the counter of (cpu) is when the first one's is (tsc), which prof_tsc()
 * is where the first one reads it. */
static inline uint64_t prof_cpu_tsc_at(const struct prof_cpu *cpu, uint64_t tsc)
{
    return tsc - (uint64_t)prof_cpu_tsc_offset(cpu);
}

/* For each CPU that may be sampled, the first one first. */
#define PROF_FOR_EACH_CPU(cpu)                                                 \
    for (struct prof_cpu *cpu = PROF_CPU_FIRST;                                \
         cpu < PROF_CPU_FIRST + prof_cpu_count(); cpu++)

#endif
