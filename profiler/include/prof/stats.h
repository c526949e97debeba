/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STATS_H
#define PROF_STATS_H

/* The counts of prof_stats() (<prof/prof.h>). */

#include <prof/tick.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is counted since prof_init() or prof_reset(): ticks, or as it says. */
struct prof_stats {
    uint64_t ticks;      /* delivered, by the interrupt's own count; equals the
                            sum of the next seven and (user), unless the
                            profiler has a bug */
    uint64_t attributed; /* in a named function, and not masked */
    uint64_t masked;     /* in one, just after interrupts were enabled */
    uint64_t own;        /* in the profiler, and in what it calls; in no share.
                            0 in modules without callers and trees, and where
                            the image knows no names */
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
    uint64_t elapsed_cycles; /* time that shares are of: the sum of the next
                                five and user. Without what was stolen, and
                                without the profiler's own */
    uint64_t attributed_cycles;
    uint64_t masked_cycles;
    uint64_t idle_cycles;
    uint64_t unresolved_cycles;
    uint64_t dropped_cycles;
    uint64_t exits; /* of attributed and masked: at an instruction that leaves
                       the guest, or in prof.vmm */
    uint64_t exits_cycles;
    uint64_t own_cycles;         /* besides elapsed: of (own) */
    uint64_t stolen_cycles;      /* besides elapsed: the host did not run us */
    uint64_t interrupt_cycles;   /* the sampler's own, in the interrupt */
    uint64_t drain_cycles;       /* the sampler's own, in prof_drain() */
    uint64_t report_cycles;      /* the sampler's own, in prof_report() */
    uint32_t addresses;          /* distinct ones that were sampled */
    uint32_t functions;          /* distinct ones that were sampled */
    uint32_t stacks;             /* nodes of the tree of call stacks */
    uint32_t refusals;           /* allocations refused */
    struct prof_tick_stats tick; /* problems of the source (<prof/tick.h>) */
    uint64_t stream_packets;     /* that left the image (<prof/transport.h>) */
    uint64_t stream_bytes;       /* in these */
    uint64_t stream_discarded;   /* samples that the transport did not take, or
                                    that a reset discarded; since prof_init() */
    uint64_t forgotten; /* ticks before the last reset, since prof_init() */
    uint64_t stolen_short_cycles; /* in elapsed: stolen for less than a period
                                     at a time, of no sample in particular;
                                     where KVM says so (<prof/kvm.h>) */
    uint64_t irqs_off; /* of ticks: with interrupts off, as NMIs see it; not
                          those of the overflow table */
    uint64_t irqs_off_cycles; /* that these cover */
};

#ifdef __cplusplus
}
#endif

#endif
