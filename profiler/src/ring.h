/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RING_H
#define PROF_RING_H

/*
 * The fixed vector between the interrupt and the drain.
 *
 * One producer, the timer interrupt of one CPU; one consumer, the drain. Two
 * CPUs never write to the same vector: each would need its own, which one drain
 * may empty in turns (tests/unit/ring_test.c). Producer and consumer take turns
 * on the entries: those from tail up to head are the consumer's, the others
 * the producer's. Each side writes one of the two pointers and only reads the
 * other, so neither ever waits, and a store hands entries over:
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
 * head == tail means empty; one entry stays unused so that full differs.
 * tests/model/ring.pml proves it: no entry lost, torn or seen twice.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One sample as the interrupt leaves it. */
struct prof_entry {
    uintptr_t pc;     /* interrupted code address */
    uint32_t tsc_low; /* time stamp counter, low and high half */
    uint32_t tsc_high;
    uint16_t frames;  /* its words in the frame vector, and why they are not
                        more, as prof_walk() says (frames.h); 0 in a free
                        entry, and the producer relies on it */
    uint16_t divisor; /* of the PIT from this tick on (jitter.h), or 0: it did
                         not change; in a free entry, 0 */
};

struct prof_ring {
    struct prof_entry *head;  /* next to be written; the producer's */
    struct prof_entry *tail;  /* next to be read; the consumer's */
    struct prof_entry *begin; /* the vector itself; never changes */
    struct prof_entry *end;
};

static inline uint64_t prof_entry_tsc(const struct prof_entry *entry)
{
    return (uint64_t)entry->tsc_high << 32 | entry->tsc_low;
}

/* The entry after (entry), round the corner where need be. */
static inline struct prof_entry *prof_ring_next(const struct prof_ring *ring,
                                                struct prof_entry *entry)
{
    struct prof_entry *next = entry + 1;

    return next == ring->end ? ring->begin : next;
}

/* The entry before (entry). */
static inline struct prof_entry *prof_ring_before(const struct prof_ring *ring,
                                                  struct prof_entry *entry)
{
    return (entry == ring->begin ? ring->end : entry) - 1;
}

/*
 * Producer: whether the vector is full. Wait-free, as is what follows; the
 * stubs in i386/ and x86_64/ do the same in assembly.
 */
static inline bool prof_ring_full(const struct prof_ring *ring)
{
    return prof_ring_next(ring, ring->head) ==
           __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE); /* (B') */
}

/* Producer, where it is not full: stores (pc) at time (tsc), whose words are in
 * the frame vector already: (frames) is what prof_walk() returned. */
static inline void prof_ring_push(struct prof_ring *ring, uintptr_t pc,
                                  uint64_t tsc, uint32_t frames)
{
    struct prof_entry *entry = ring->head;

    entry->pc = pc;
    entry->tsc_low = (uint32_t)tsc;
    entry->tsc_high = (uint32_t)(tsc >> 32);
    entry->frames = (uint16_t)frames;
    __atomic_store_n(&ring->head, prof_ring_next(ring, entry),
                     __ATOMIC_RELEASE); /* (A) */
}

/* Consumer: one past the last entry that may be read now. */
static inline struct prof_entry *prof_ring_head(const struct prof_ring *ring)
{
    return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE); /* (A') */
}

/* Consumer: gives back everything before (tail), whose frames are 0 again. */
static inline void prof_ring_release(struct prof_ring *ring,
                                     struct prof_entry *tail)
{
    __atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE); /* (B) */
}

/* Entries from (tail) up to (head), in entries. */
static inline size_t prof_ring_distance(const struct prof_ring *ring,
                                        const struct prof_entry *tail,
                                        const struct prof_entry *head)
{
    ptrdiff_t distance = head - tail;

    return (size_t)(distance < 0 ? distance + (ring->end - ring->begin)
                                 : distance);
}

#endif
