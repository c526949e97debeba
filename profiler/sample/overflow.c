/* SPDX-License-Identifier: Apache-2.0 */

#include "sample/overflow.h"

#include "sample/cpu_state.h"

#define HALVES 2u

/* Fibonacci hashing; code addresses differ mostly in their low bits. */
static uint32_t slot_of(uintptr_t pc)
{
    return ((uint32_t)pc * 0x9e3779b1u) >> 25;
}

_Static_assert(PROF_OVERFLOW_SLOTS == 1u << 7, "slot_of() yields seven bits");

static void clear(struct prof_slot *slots)
{
    for (uint32_t i = 0; i < PROF_OVERFLOW_SLOTS; i++) {
        slots[i].count = 0;
        slots[i].cycles = 0;
    }
}

void prof_overflow_open(struct prof_overflow *overflow, struct prof_slot *slots)
{
    *overflow = (struct prof_overflow){.claimed = overflow->half};
    for (uint32_t i = 0; i < HALVES; i++) {
        overflow->half[i].slots = slots + i * (size_t)PROF_OVERFLOW_SLOTS;
        clear(overflow->half[i].slots);
    }
}

void prof_overflow_resume(struct prof_overflow *overflow, uint64_t tsc)
{
    overflow->resume_tsc = tsc;
    overflow->claimed->last_tsc = tsc;
}

/* A new episode: claims the other half; NULL if the consumer still owns it. The
 * vector is full, so its newest entry is the sample before this one. */
static struct prof_overflow_half *claim(struct prof_overflow *overflow,
                                        const struct prof_ring *ring)
{
    struct prof_overflow_half *half =
        &overflow->half[overflow->claimed == overflow->half];
    uint64_t before = prof_ring_newest_tsc(ring);

    if (__atomic_load_n(&half->at, __ATOMIC_ACQUIRE) != NULL) { /* (C') */
        overflow->no_half++;
        return NULL;
    }
    half->last_tsc =
        before < overflow->resume_tsc ? overflow->resume_tsc : before;
    half->dropped = overflow->no_half;
    overflow->no_half = 0;
    overflow->claimed = half;
    __atomic_store_n(&half->at, ring->head, __ATOMIC_RELEASE);
    return half;
}

static inline bool is_for(const struct prof_slot *slot, uintptr_t pc,
                          bool irqs_off)
{
    return slot->pc == pc && (!PROF_WITH_NMI || slot->irqs_off == irqs_off);
}

/* The slot of (pc), or a free one; NULL if neither is within reach. */
static inline struct prof_slot *find_slot(struct prof_slot *slots, uintptr_t pc,
                                          bool irqs_off)
{
    uint32_t at = slot_of(pc);

    for (uint32_t probe = 0; probe < PROF_OVERFLOW_PROBES; probe++) {
        struct prof_slot *slot = &slots[(at + probe) % PROF_OVERFLOW_SLOTS];

        if (slot->count == 0 || is_for(slot, pc, irqs_off))
            return slot;
    }
    return NULL;
}

void prof_sample_full(uintptr_t pc, uint64_t marked_tsc)
{
    bool irqs_off = (marked_tsc & PROF_TSC_IRQS_OFF) != 0;
    uint64_t tsc = marked_tsc & ~PROF_TSC_IRQS_OFF;
    struct prof_cpu *cpu = prof_cpu_here();
    struct prof_overflow_half *half = cpu->overflow.claimed;
    struct prof_slot *slot;
    uint64_t cycles;

    if (half->at != cpu->ring.head) {
        half = claim(&cpu->overflow, &cpu->ring);
        if (half == NULL)
            return;
    }
    cycles = tsc - half->last_tsc;
    half->last_tsc = tsc;
    slot = find_slot(half->slots, pc, irqs_off);
    if (slot != NULL) {
        slot->pc = pc;
        if (PROF_WITH_NMI)
            slot->irqs_off = irqs_off;
        slot->count++;
        slot->cycles += cycles;
    } else {
        half->dropped++;
        half->dropped_cycles += cycles;
    }
}

static struct prof_entry *position(const struct prof_overflow_half *half)
{
    return __atomic_load_n(&half->at, __ATOMIC_ACQUIRE);
}

/* Head is loaded before the halves: a half claimed after that is at or beyond
 * that head. */
struct prof_entry *prof_overflow_until(const struct prof_overflow *overflow,
                                       const struct prof_ring *ring,
                                       const struct prof_entry *read)
{
    struct prof_entry *until = prof_ring_head(ring);

    for (uint32_t i = 0; i < HALVES; i++) {
        struct prof_entry *at = position(&overflow->half[i]);

        if (at != NULL && prof_ring_bytes(ring, read, at) <
                              prof_ring_bytes(ring, read, until))
            until = at;
    }
    return until;
}

/*
 * Entries are released only if no half is waiting, or if the next one is still
 * open: the release ends its episode. At any other time it could start a third
 * episode. If a tick claims a half at head meanwhile, the store ends that
 * episode, and the half is taken when the reader gets there.
 */
struct prof_overflow_half *prof_overflow_take(struct prof_overflow *overflow,
                                              struct prof_ring *ring,
                                              struct prof_entry *read)
{
    struct prof_overflow_half *next = NULL;
    bool waiting = false;

    for (uint32_t i = 0; i < HALVES; i++) {
        struct prof_entry *at = position(&overflow->half[i]);

        waiting |= at != NULL;
        if (at == read)
            next = &overflow->half[i];
    }
    if (!waiting || (next != NULL && prof_ring_next(ring, read) == ring->tail))
        prof_ring_release(ring, read);
    return next;
}

void prof_overflow_free(struct prof_overflow_half *half)
{
    clear(half->slots);
    half->dropped = 0;
    half->dropped_cycles = 0;
    __atomic_store_n(&half->at, NULL, __ATOMIC_RELEASE); /* (C) */
}

uint32_t prof_overflow_samples(const struct prof_overflow_half *half,
                               uint32_t from)
{
    uint32_t samples = 0;

    for (uint32_t i = from; i < PROF_OVERFLOW_SLOTS; i++)
        samples += half->slots[i].count;
    return samples;
}

uint32_t prof_overflow_waiting(const struct prof_overflow *overflow,
                               const struct prof_overflow_half *taken)
{
    uint32_t samples = 0;

    for (uint32_t i = 0; i < HALVES; i++)
        if (&overflow->half[i] != taken && position(&overflow->half[i]) != NULL)
            samples += prof_overflow_samples(&overflow->half[i], 0);
    return samples;
}

uint32_t prof_overflow_dropped(const struct prof_overflow *overflow,
                               const struct prof_overflow_half *taken)
{
    uint32_t dropped = overflow->no_half;

    for (uint32_t i = 0; i < HALVES; i++)
        if (&overflow->half[i] != taken)
            dropped += overflow->half[i].dropped;
    return dropped;
}

uint64_t prof_overflow_newest(const struct prof_overflow *overflow)
{
    return overflow->claimed->last_tsc;
}
