/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SAMPLE_CPUS_H
#define PROF_SAMPLE_CPUS_H

/*
 * Which CPUs are sampled (<prof/cpus.h>). A CPU that joins fills its struct and
 * publishes it with its last store (D). The drain, on the first CPU, acquires
 * it (D'), and keeps state of its own for the CPU. When a CPU has left, the
 * drain frees its struct once its vector is empty. So each member has one
 * writer at a time.
 */

#include "sample/cpu_state.h"

#include <prof/config.h>
#include <stdbool.h>
#include <stdint.h>

enum prof_cpu_state {
    PROF_CPU_FREE,   /* a CPU may join, and fill the struct */
    PROF_CPU_JOINED, /* set by that CPU */
    PROF_CPU_LEFT,   /* set by that CPU; the drain sets it to FREE */
};

struct prof_cpu_link {
    /* Written by that CPU. */
    PROF_OWN_LINE uint32_t state;
    uint32_t key;        /* its index in prof_cpu_keys */
    uint64_t joined_tsc; /* by its own TSC */
    int64_t tsc_offset;  /* to be added to its TSC for the first CPU's */
    uint32_t tsc_error;  /* largest error of the offset; UINT32_MAX: unknown */
    uint32_t idt_limit;
    uintptr_t idt;
    uint32_t ping; /* number of a request, 0 = none yet */
    uint32_t kept; /* 1 + the key of the CPU that has this number for good */

    /* Written by the first CPU. */
    PROF_OWN_LINE uint64_t pong_tsc; /* its TSC at the response */
    uint32_t pong;                   /* number of the request answered */
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

/* Returns the number of CPUs that may be sampled, including the first. */
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

/* Prepares (cpus) CPUs, of which the current one is the first. Returns false if
 * nothing identifies it. Contexts: boot. */
bool prof_cpus_open(uint32_t cpus);

/* The first binds the current CPU, which has joined as (number), to that number
 * for good. The second returns whether the current CPU may join as (number):
 * no other CPU is bound to it, and this one to no other. */
void prof_cpu_keep_number(uint32_t number);
bool prof_cpu_may_be(uint32_t number);

/* Returns whether the current CPU is (cpu), or was the last one that was.
 * Contexts: any. */
bool prof_cpu_was(const struct prof_cpu *cpu);

/* Makes the current CPU, which was (cpu), PROF_CPU_NOBODY. Contexts: interrupts
 * off. */
void prof_cpus_forget(struct prof_cpu *cpu);

#endif

/* Returns the TSC of (cpu) at the moment at which the first CPU's is (tsc). */
static inline uint64_t prof_cpu_tsc_at(const struct prof_cpu *cpu, uint64_t tsc)
{
    return tsc - (uint64_t)prof_cpu_tsc_offset(cpu);
}

/* Loops over all CPUs that may be sampled, beginning with the first. */
#define PROF_FOR_EACH_CPU(cpu)                                                 \
    for (struct prof_cpu *cpu = PROF_CPU_FIRST;                                \
         cpu < PROF_CPU_FIRST + prof_cpu_count(); cpu++)

#endif
