/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_OVERFLOW_H
#define PROF_OVERFLOW_H

/*
 * The overflow table: counts samples by address while the vector is full.
 *
 * It has two halves. All samples that find the vector full at the same entry
 * form an episode: they are newer than every entry before that one, and older
 * than every entry from it on. A half holds one episode and records its entry:
 *
 *      vector     | a | b | c | d | e | f |         half 0: at d
 *                           ^       ^               half 1: free
 *                           read    head
 *
 * The consumer reads up to that entry, releases the entries that it has read,
 * and takes the half. The next sample goes to the vector again. When the vector
 * is full the next time, it is full at another entry, and the producer claims
 * the other half. So a single store to the vector's tail hands over both
 * entries and half, and no tick, not even an NMI, can come in between.
 *
 *   (C) the consumer's store to (at), which frees a half, releases its slots;
 *       the producer's load of (at), (C'), acquires them.
 *
 * A new episode can only begin after a release of entries, and the consumer
 * releases none while another half is waiting, so a third half is never needed.
 * If it were, its samples would count as dropped, and the next sample would
 * cover their time. A sample that finds PROF_OVERFLOW_PROBES slots taken by
 * other addresses is dropped with its time.
 *
 * tests/model/drain.pml proves this, for an interrupt and for an NMI; with
 * OTHER_CPU for a consumer on another CPU, which leaves a half alone until it
 * sees that head has moved on.
 */

#include "sample/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_OVERFLOW_SLOTS 128u /* in each half; a power of two */
#define PROF_OVERFLOW_PROBES 8u  /* slots probed before a sample is dropped */

struct prof_slot {
    uintptr_t pc;      /* code address; undefined if count is 0 */
    uint32_t count;    /* samples, 0 = free */
    uint32_t irqs_off; /* 1: the samples were taken with interrupts off, 0: with
                          interrupts on; an address may have a slot of each */
    uint64_t cycles;   /* time that these samples cover; 0 if free */
};

/* Owned by the producer once claimed, by the consumer once taken. */
struct prof_overflow_half {
    PROF_OWN_LINE struct prof_slot
        *slots;              /* PROF_OVERFLOW_SLOTS; never changes */
    struct prof_entry *at;   /* its samples are older than this entry; NULL:
                                the half is free, and so are its slots */
    uint64_t last_tsc;       /* of its newest sample; when claimed, of the one
                                before it, or of the start of sampling */
    uint64_t dropped_cycles; /* time of the dropped samples */
    uint32_t dropped;        /* samples that found no slot */
};

struct prof_overflow {
    struct prof_overflow_half *claimed; /* latest; written by the producer */
    struct prof_overflow_half half[2];
    PROF_OWN_LINE
    uint32_t no_half;    /* samples that found no free half since the last
                            claim, and count as dropped; the producer's */
    uint64_t resume_tsc; /* start of sampling; written by the thread */
};

/* Initialises (overflow) with 2 * PROF_OVERFLOW_SLOTS (slots). Contexts:
 * boot. */
void prof_overflow_open(struct prof_overflow *overflow,
                        struct prof_slot *slots);

/* Sets the begin of sampling, (tsc): no sample covers the time before.
 * Contexts: thread, with sampling disabled. */
void prof_overflow_resume(struct prof_overflow *overflow, uint64_t tsc);

/* Consumer: returns the end of the entries from (read) on that may be read now,
 * which is the vector's head, or the entry at which the next half must be
 * taken. */
struct prof_entry *prof_overflow_until(const struct prof_overflow *overflow,
                                       const struct prof_ring *ring,
                                       const struct prof_entry *read);

/* Consumer, after it has read all entries before (read) and freed the last
 * half: releases the entries, unless a half further on is waiting. Returns the
 * half whose samples come next, before the entry (read); NULL: none. */
struct prof_overflow_half *prof_overflow_take(struct prof_overflow *overflow,
                                              struct prof_ring *ring,
                                              struct prof_entry *read);

/* Consumer: clears (half), which was taken, and frees it for a new claim. */
void prof_overflow_free(struct prof_overflow_half *half);

/* Consumer: returns the samples in the slots of (half) from number (from) on.
 */
uint32_t prof_overflow_samples(const struct prof_overflow_half *half,
                               uint32_t from);

/* Consumer: return the samples in slots, and the samples dropped, of halves
 * other than (taken), the half taken last, or NULL. */
uint32_t prof_overflow_waiting(const struct prof_overflow *overflow,
                               const struct prof_overflow_half *taken);
uint32_t prof_overflow_dropped(const struct prof_overflow *overflow,
                               const struct prof_overflow_half *taken);

/* Returns the TSC of the newest sample in the table; 0: none since the
 * start. */
uint64_t prof_overflow_newest(const struct prof_overflow *overflow);

#endif
