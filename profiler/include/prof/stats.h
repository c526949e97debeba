/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STATS_H
#define PROF_STATS_H

/* The counts of prof_stats() (<prof/prof.h>). */

#include <prof/tick.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts since prof_init() or prof_reset(). Unless the comment states
 * otherwise: number of ticks, or TSC cycles in members named ..._cycles. */
struct prof_stats {
    uint64_t ticks;      /* delivered, as counted by the interrupt; the sum of
                            the next seven members and (user) */
    uint64_t attributed; /* in a named function, and not masked */
    uint64_t masked;     /* in a named function, just after interrupts were
                            enabled */
    uint64_t own;        /* in the profiler and what it calls; in no share. 0 in
                            builds without callers and trees, and in images
                            without a symbol table */
    uint64_t idle;       /* in config.idle */
    uint64_t unresolved; /* in no function of the symbol table */
    uint64_t dropped;    /* address lost: vector and overflow table full, or no
                            memory for a new stack and the vector half full */
    uint64_t queued;     /* not drained yet: too recent, or no memory */
    uint64_t missed;     /* due by the clock, never delivered; not in ticks */
    uint64_t overflowed; /* of ticks: went through the overflow table */
    uint64_t caller_unreachable; /* of ticks: in a function without a frame
                                    whose return address was not recorded */
    uint64_t stopped[7]; /* walks that ended early, by enum prof_walk_stop */
    uint64_t user;       /* in user mode (<prof/user.h>) */
    uint64_t user_cycles;
    uint64_t elapsed_cycles; /* the time of which shares are computed: the sum
                                of the next five members and user_cycles,
                                without stolen time and the profiler's own */
    uint64_t attributed_cycles;
    uint64_t masked_cycles;
    uint64_t idle_cycles;
    uint64_t unresolved_cycles;
    uint64_t dropped_cycles;
    uint64_t exits; /* of attributed and masked: at an instruction that exits
                       to the VMM, or in the function prof.vmm */
    uint64_t exits_cycles;
    uint64_t own_cycles;         /* of (own); not in elapsed_cycles */
    uint64_t stolen_cycles;      /* the host did not run the CPU; not in
                                    elapsed_cycles */
    uint64_t interrupt_cycles;   /* spent in the sampling interrupt */
    uint64_t drain_cycles;       /* spent in prof_drain() */
    uint64_t report_cycles;      /* spent in prof_report() */
    uint32_t addresses;          /* distinct addresses sampled */
    uint32_t functions;          /* distinct functions sampled */
    uint32_t stacks;             /* nodes of the tree of call stacks */
    uint32_t refusals;           /* allocations that failed */
    struct prof_tick_stats tick; /* problems of the source (<prof/tick.h>) */
    uint64_t stream_packets;     /* packets sent (<prof/transport.h>) */
    uint64_t stream_bytes;       /* bytes in these packets */
    uint64_t stream_discarded;   /* samples that the transport did not accept,
                                    or that a reset discarded; since
                                    prof_init() */
    uint64_t forgotten; /* ticks before the last reset, since prof_init() */
    uint64_t stolen_short_cycles; /* part of elapsed_cycles: stolen for less
                                     than a period at a time, from no sample in
                                     particular; if KVM reports it
                                     (<prof/kvm.h>) */
    uint64_t irqs_off; /* of ticks: NMIs that interrupted code with interrupts
                          off */
    uint64_t irqs_off_cycles; /* cycles that these cover */
};

#ifdef __cplusplus
}
#endif

#endif
