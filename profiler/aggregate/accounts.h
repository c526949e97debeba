/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ACCOUNTS_H
#define PROF_ACCOUNTS_H

/*
 * The drain's counts for each CPU. They never decrease: a reset takes a
 * snapshot, which prof_stats() subtracts, and the stream sends differences.
 */

#include "aggregate/amount.h"
#include "sample/cpus.h"

enum prof_class {
    PROF_CLASS_ATTRIBUTED, /* in a function that has a name */
    PROF_CLASS_IDLE,
    PROF_CLASS_UNRESOLVED,
    PROF_CLASS_USER, /* in user mode */
    PROF_CLASSES,
};

struct prof_accounts {
    struct prof_amount drained[PROF_CLASSES];
    struct prof_amount dropped;   /* by the interrupt, up to the last overflow
                                     half that was taken */
    struct prof_amount no_memory; /* dropped by the drain: a new stack, and no
                                     memory for it */
    uint64_t overflowed;          /* of drained: through the overflow table */
    uint64_t caller_unreachable;  /* of drained: in a function without a frame,
                                     whose return address is above the words
                                     stored */
    uint64_t stolen_cycles;       /* stolen by the host; in none of these */
#if PROF_WITH_NMI
    struct prof_amount irqs_off; /* of drained: with interrupts off */
#endif
#if PROF_WITH_KVM
    uint64_t stolen_short_cycles; /* stolen for less than a period at a time, by
                                     KVM's account; included in these */
#endif
    uint64_t drain_cycles;               /* spent in prof_drain() */
    uint32_t stopped[PROF_WALK_REASONS]; /* walks, by enum prof_walk_stop */
};

extern struct prof_accounts prof_accounts_by_cpu[PROF_CPUS_MAX];

/* Returns the accounts of (cpu). Written by the drain. */
static inline struct prof_accounts *prof_accounts_of(const struct prof_cpu *cpu)
{
    return &prof_accounts_by_cpu[prof_cpu_number(cpu)];
}

/* Returns whether tables and prof_stats() include (cpu), by prof.cpu as
 * prof_init() has read it. */
#if PROF_CPUS_MAX == 1
static inline bool prof_is_shown(const struct prof_cpu *cpu)
{
    (void)cpu;
    return true;
}
#else
extern uint32_t prof_shown_cpu;
static inline bool prof_is_shown(const struct prof_cpu *cpu)
{
    return prof_shown_cpu == PROF_CPU_ALL ||
           prof_cpu_number(cpu) == prof_shown_cpu;
}
#endif

#endif
