/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RING_H
#define PROF_RING_H

/*
 * The sample vector, of fixed size, between interrupt and drain: a ring with
 * one producer, the timer interrupt of one CPU, and one consumer. Entries from
 * tail up to head belong to the consumer, the others to the producer. Each side
 * writes one of the pointers and only reads the other, so neither ever waits:
 *
 *      begin        tail             head               end
 *        |            |  unread        |                 |
 *        v            v                v                 v
 *        +------------+================+-----------------+
 *        |  free      |  consumer's    |  free           |
 *        +------------+================+-----------------+
 *
 *   (A) the producer's store to head releases the entry it has just written;
 *       the consumer's load of head, (A'), acquires it.
 *   (B) the consumer's store to tail releases the entries it has read; the
 *       producer's load of tail, (B'), acquires them.
 *
 * The ring is empty if head == tail; one entry stays unused, to distinguish a
 * full ring. The producer loads tail only when it reaches its limit, which is
 * the value of tail that it last loaded, or the end of the vector.
 *
 * tests/model/ring.pml proves that no entry is lost, torn or read twice.
 */

#include "base/cpu.h"

#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One sample as the interrupt stores it. */
struct prof_entry {
    uintptr_t pc;     /* interrupted code address */
    uint32_t tsc_low; /* time stamp counter, low and high half; the top bit is
                         set if interrupts were off (PROF_TSC_IRQS_OFF) */
    uint32_t tsc_high;
    uint16_t frames;  /* the result of prof_walk() (frames.h): words in the
                        frame vector, and why the walk ended early; 0 in a free
                        entry, on which the producer relies */
    uint16_t divisor; /* new divisor of the PIT from this tick on (jitter.h),
                         0 = unchanged; 0 in a free entry */
};

/* Whether the consumer clears frames and divisor of the entries that it has
 * read. From another CPU it would write to the cache line of the producer's
 * next entry; with several CPUs the producer clears them, with one more
 * instruction. */
#define PROF_ENTRIES_ARE_CLEARED (PROF_CPUS_MAX == 1)

struct prof_ring {
    struct prof_entry *head;  /* next to be written; by the producer */
    struct prof_entry *limit; /* up to here tail need not be loaded: tail as
                                 last loaded, or end; by the producer */
#if PROF_CPUS_MAX == 1
    struct prof_entry *tail; /* next to be read; by the consumer */
#else
    void *unused; /* keeps the offsets of the next two as with one CPU */
#endif
    struct prof_entry *begin; /* the vector itself; never changes */
    struct prof_entry *end;
#if PROF_CPUS_MAX > 1
    PROF_OWN_LINE struct prof_entry *tail;
#endif
};

/* Marks a sample taken with interrupts off, which only an NMI can take. No TSC
 * reaches this bit. */
#define PROF_TSC_IRQS_OFF (PROF_WITH_NMI ? (uint64_t)1 << 63 : 0)

/* Returns the time stamp, including this bit. */
static inline uint64_t prof_entry_marked_tsc(const struct prof_entry *entry)
{
    return (uint64_t)entry->tsc_high << 32 | entry->tsc_low;
}

static inline uint64_t prof_entry_tsc(const struct prof_entry *entry)
{
    return prof_entry_marked_tsc(entry) & ~PROF_TSC_IRQS_OFF;
}

/* Return the entry after, or before, (entry), wrapping around. */
static inline struct prof_entry *prof_ring_next(const struct prof_ring *ring,
                                                struct prof_entry *entry)
{
    struct prof_entry *next = entry + 1;

    return next == ring->end ? ring->begin : next;
}

static inline struct prof_entry *prof_ring_before(const struct prof_ring *ring,
                                                  struct prof_entry *entry)
{
    return (entry == ring->begin ? ring->end : entry) - 1;
}

/* Returns the TSC of the newest sample in the vector, drained or not; 0:
 * none. */
static inline uint64_t prof_ring_newest_tsc(const struct prof_ring *ring)
{
    return prof_entry_tsc(prof_ring_before(ring, ring->head));
}

/* Initialises (ring) with the clear entries [begin, end). Contexts: boot. */
static inline void prof_ring_open(struct prof_ring *ring,
                                  struct prof_entry *begin,
                                  struct prof_entry *end)
{
    ring->head = ring->tail = ring->begin = begin;
    ring->limit = ring->end = end;
}

/* Producer, at its limit: sets a new one. Returns false if the vector is
 * full. */
static inline bool prof_ring_look(struct prof_ring *ring)
{
    struct prof_entry *next = prof_ring_next(ring, ring->head);
    struct prof_entry *tail =
        __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE); /* (B') */

    if (next == tail)
        return false;
    ring->limit = tail > next ? tail : ring->end;
    return true;
}

/* Producer: returns whether the vector is full. Wait-free, like
 * prof_ring_push(); the stubs do the same in assembly. */
static inline bool prof_ring_full(struct prof_ring *ring)
{
    return ring->head + 1 == ring->limit && !prof_ring_look(ring);
}

/* Producer, if the vector is not full: stores a sample of (pc) at (tsc). Its
 * words are in the frame vector already; (frames) is the result of
 * prof_walk(). */
static inline void prof_ring_push(struct prof_ring *ring, uintptr_t pc,
                                  uint64_t tsc, uint32_t frames)
{
    struct prof_entry *entry = ring->head;

    entry->pc = pc;
    entry->tsc_low = (uint32_t)tsc;
    entry->tsc_high = (uint32_t)(tsc >> 32);
    entry->frames = (uint16_t)frames;
    if (!PROF_ENTRIES_ARE_CLEARED)
        entry->divisor = 0;
    __atomic_store_n(&ring->head, prof_ring_next(ring, entry),
                     __ATOMIC_RELEASE); /* (A) */
}

/* Consumer: returns the end of the entries that may be read now. */
static inline struct prof_entry *prof_ring_head(const struct prof_ring *ring)
{
    return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE); /* (A') */
}

/* Consumer: releases all entries before (tail), which it has cleared. */
static inline void prof_ring_release(struct prof_ring *ring,
                                     struct prof_entry *tail)
{
    __atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE); /* (B) */
}

/* Returns the bytes from (tail) up to (head), for comparisons. */
static inline size_t prof_ring_bytes(const struct prof_ring *ring,
                                     const struct prof_entry *tail,
                                     const struct prof_entry *head)
{
    ptrdiff_t bytes = (const char *)head - (const char *)tail;

    if (bytes < 0)
        bytes += (const char *)ring->end - (const char *)ring->begin;
    return (size_t)bytes;
}

/* Returns the number of entries from (tail) up to (head). */
static inline size_t prof_ring_distance(const struct prof_ring *ring,
                                        const struct prof_entry *tail,
                                        const struct prof_entry *head)
{
    return prof_ring_bytes(ring, tail, head) / sizeof *head;
}

#endif
