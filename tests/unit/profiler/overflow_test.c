/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The overflow table: what its two halves hold, and that a sample may come
 * between any two instructions of the consumer. For the latter it runs with the
 * trap flag set, and the signal that follows each instruction is the NMI: now
 * and then it takes a sample.
 */

#include "../unit.h"

#include "../single_step.h"
#include "sample/cpu_state.h"
#include "tick/clock.h"

#include <signal.h>

#define ENTRIES 8u
#define PASSES 60u

static struct prof_entry entries[ENTRIES];
static struct prof_slot slots[2 * PROF_OVERFLOW_SLOTS];
static struct prof_ring *const ring = &prof_cpus[0].ring;
static struct prof_overflow *const overflow = &prof_cpus[0].overflow;

static void open_all(void)
{
    memset(entries, 0, sizeof entries);
    prof_ring_open(ring, entries, entries + ENTRIES);
    prof_overflow_open(overflow, slots);
}

static void put(uintptr_t pc, uint64_t tsc)
{
    prof_cpus[0].ticks++;
    if (prof_ring_full(ring))
        prof_sample_full(pc, tsc);
    else
        prof_ring_push(ring, pc, tsc, 0);
}

static uint64_t cycles_in(const struct prof_overflow_half *half)
{
    uint64_t cycles = half->dropped_cycles;

    for (uint32_t i = 0; i < PROF_OVERFLOW_SLOTS; i++)
        cycles += half->slots[i].cycles;
    return cycles;
}

TEST(each_episode_has_a_half)
{
    struct prof_overflow_half *half;
    struct prof_entry *read = entries, *until;
    uint64_t tsc = 0;

    open_all();
    for (unsigned i = 0; i < 12; i++)
        put(0x1000, ++tsc);
    until = prof_overflow_until(overflow, ring, read);
    assert_ptr_equal(until, ring->head);
    assert_int_equal(prof_overflow_waiting(overflow, NULL), 5);
    half = prof_overflow_take(overflow, ring, until);
    assert_int_equal(prof_overflow_samples(half, 0), 5);
    assert_int_equal(cycles_in(half), 5);
    assert_int_equal(half->last_tsc, 12);
    assert_int_equal(prof_overflow_waiting(overflow, half), 0);

    /* while that one is read, the vector fills again: the other half */
    for (unsigned i = 0; i < 9; i++)
        put(0x2000, ++tsc);
    assert_int_equal(prof_overflow_waiting(overflow, half), 2);
    assert_int_equal(prof_overflow_samples(half, 0), 5);
    prof_overflow_free(half);
    read = until;
    until = prof_overflow_until(overflow, ring, read);
    assert_int_equal(prof_ring_distance(ring, read, until), 7);
    half = prof_overflow_take(overflow, ring, until);
    assert_int_equal(cycles_in(half), 2);
    prof_overflow_free(half);
    assert_null(prof_overflow_take(overflow, ring, until));
}

/* Entries are given back in the middle, as a drain does that found no memory
 * just before the vector was full: the half waits until its turn has come. */
TEST(a_half_waits_for_its_place)
{
    struct prof_overflow_half *half;
    struct prof_entry *full;

    open_all();
    for (uint64_t tsc = 1; tsc <= 9; tsc++)
        put(0x1000, tsc);
    full = ring->head;
    prof_ring_release(ring, entries + 3);
    put(0x1000, 10);
    assert_ptr_equal(prof_overflow_until(overflow, ring, entries + 3), full);
    assert_null(prof_overflow_take(overflow, ring, entries + 5));
    assert_ptr_equal(ring->tail, entries + 3);
    half = prof_overflow_take(overflow, ring, full);
    assert_int_equal(cycles_in(half), 2);
    assert_ptr_equal(ring->tail, entries + 3);
    prof_overflow_free(half);
    assert_ptr_equal(prof_overflow_until(overflow, ring, full), ring->head);
}

/* No consumer lets it come to this; the samples are counted all the same, and
 * the next one carries their time. */
TEST(without_a_free_half_samples_are_dropped)
{
    struct prof_overflow_half *half;
    uint64_t tsc = 0;

    open_all();
    for (unsigned episode = 0; episode < 3; episode++) {
        while (!prof_ring_full(ring))
            put(0x1000, ++tsc);
        put(0x1000, ++tsc);
        put(0x1000, ++tsc);
        if (episode < 2)
            prof_ring_release(ring, entries + 2 + 2 * episode);
    }
    assert_int_equal(prof_overflow_waiting(overflow, NULL), 4);
    assert_int_equal(prof_overflow_dropped(overflow, NULL), 2);
    for (unsigned i = 0; i < 2; i++) {
        half = prof_overflow_take(
            overflow, ring, prof_overflow_until(overflow, ring, ring->tail));
        assert_non_null(half);
        prof_overflow_free(half);
    }
    prof_ring_release(ring, ring->head);
    while (!prof_ring_full(ring))
        put(0x1000, ++tsc);
    put(0x1000, ++tsc);
    half = overflow->claimed;
    assert_int_equal(half->dropped, 2);
    assert_int_equal(cycles_in(half), 1);
    assert_int_equal(overflow->no_half, 0);
}

TEST(what_fits_nowhere_is_dropped_with_its_time)
{
    const struct prof_overflow_half *half;
    uint64_t tsc = 0;

    open_all();
    while (!prof_ring_full(ring))
        put(0x1000, ++tsc);
    for (uintptr_t i = 0; i < 1000; i++)
        put(0x1000 + i, ++tsc);
    half = overflow->claimed;
    assert_true(half->dropped > 0);
    assert_int_equal(prof_overflow_samples(half, 0) + half->dropped, 1000);
    assert_int_equal(cycles_in(half), 1000);
}

/* The mark of a sample stays: one address has a slot of each kind, and no time
 * has the mark in it. */
TEST(interrupts_off_are_counted_apart)
{
    struct prof_overflow_half *half;
    uint64_t tsc = 0, off_cycles = 0;
    uint32_t off = 0, on = 0;

    open_all();
    while (!prof_ring_full(ring))
        put(0x1000, ++tsc | PROF_TSC_IRQS_OFF);
    for (unsigned i = 0; i < 30; i++)
        put(0x1000 + i % 2, ++tsc | (i % 3 == 0 ? PROF_TSC_IRQS_OFF : 0));
    half = prof_overflow_take(overflow, ring, ring->head);
    assert_non_null(half);
    for (uint32_t i = 0; i < PROF_OVERFLOW_SLOTS; i++) {
        const struct prof_slot *slot = &half->slots[i];

        if (slot->count == 0)
            continue;
        assert_int_equal(slot->count, slot->irqs_off ? 5 : 10);
        off += slot->irqs_off ? slot->count : 0;
        on += slot->irqs_off ? 0 : slot->count;
        off_cycles += slot->irqs_off ? slot->cycles : 0;
    }
    assert_int_equal(off, 10);
    assert_int_equal(on, 20);
    assert_int_equal(off_cycles, 10);
    assert_int_equal(cycles_in(half), 30);
    assert_int_equal(half->last_tsc, tsc);
    prof_overflow_free(half);
    put(0x1000, ++tsc); /* in the vector */
    prof_ring_release(ring, ring->head);
    while (!prof_ring_full(ring))
        put(0x1000, ++tsc);
    put(0x1000, ++tsc);
    half = overflow->claimed;
    for (uint32_t i = 0; i < PROF_OVERFLOW_SLOTS; i++)
        if (half->slots[i].count != 0)
            assert_int_equal(half->slots[i].irqs_off, 0);
}

/*
 * A consumer that takes over all there is in one pass, and is interrupted: by
 * (nmi.samples) samples, the first after (nmi.next) instructions and the
 * others (nmi.interval) apart. Sample number n is taken at time n.
 */
static struct {
    uint32_t next, interval, samples;
    uint64_t tsc;
} nmi;

static struct {
    struct prof_entry *read;
    uint64_t tsc, samples, cycles, in_halves;
} taken;

static void on_trap(int signal)
{
    (void)signal;
    if (nmi.samples == 0 || --nmi.next != 0)
        return;
    nmi.next = nmi.interval;
    nmi.samples--;
    nmi.tsc++;
    put(0x1000 + nmi.tsc % 3, nmi.tsc);
}

static bool in_order = true;

static void empty(struct prof_overflow_half *half)
{
    in_order &= half->last_tsc > taken.tsc;
    taken.tsc = half->last_tsc;
    for (uint32_t i = 0; i < PROF_OVERFLOW_SLOTS; i++) {
        if (half->slots[i].count == 0)
            continue;
        taken.in_halves += half->slots[i].count;
        taken.cycles += half->slots[i].cycles;
    }
    prof_overflow_free(half);
}

/* Steps are too slow for the many slots of a half: all samples that are still
 * to come do so before these are read, when the half must be closed. */
static void consume(void)
{
    struct prof_overflow_half *half;
    struct prof_entry *until;

    STEP_ON();
    until = prof_overflow_until(overflow, ring, taken.read);
    for (; taken.read != until; taken.read = prof_ring_next(ring, taken.read)) {
        uint64_t tsc = prof_entry_tsc(taken.read);

        in_order &= tsc > taken.tsc;
        taken.samples++;
        taken.cycles += tsc - taken.tsc;
        taken.tsc = tsc;
    }
    half = prof_overflow_take(overflow, ring, taken.read);
    STEP_OFF();
    while (nmi.samples != 0) {
        nmi.next = 1;
        on_trap(SIGTRAP);
    }
    if (half != NULL)
        empty(half);
}

/* Passes that begin with the vector empty, nearly full and overflowing. */
TEST(a_sample_may_come_between_any_two_instructions)
{
    struct sigaction action = {.sa_handler = on_trap}, before;

    open_all();
    taken.read = ring->tail;
    sigaction(SIGTRAP, &action, &before);
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < pass % 11; i++) {
            nmi.tsc++;
            put(0x1000 + nmi.tsc % 3, nmi.tsc);
        }
        nmi.samples = 1 + pass % 12;
        nmi.next = 1 + pass * 7 % 101;
        nmi.interval = 1 + pass * 13 % 29;
        consume();
        assert_true(in_order);
    }
    for (unsigned i = 0; i < 4; i++)
        consume();
    sigaction(SIGTRAP, &before, NULL);
    assert_int_equal(taken.samples + taken.in_halves, nmi.tsc);
    assert_int_equal(taken.cycles, nmi.tsc);
    assert_int_equal(overflow->no_half, 0);
    assert_true(taken.samples > PASSES && taken.in_halves > PASSES);
    print_message("%u samples, %u of them in halves\n", (unsigned)nmi.tsc,
                  (unsigned)taken.in_halves);
}

/* The time of the newest sample, while one comes that changes both halves of
 * it, after each number of instructions. */
TEST(the_newest_is_never_half_a_time)
{
    const uint64_t before = 0x1fffffff0, after = 0x200000001;
    struct sigaction action = {.sa_handler = on_trap}, old;
    uint64_t newest;
    uint32_t steps = 0;

    sigaction(SIGTRAP, &action, &old);
    do {
        open_all();
        while (!prof_ring_full(ring))
            put(0x1000, 1);
        put(0x1000, before);
        nmi.samples = 1;
        nmi.next = ++steps;
        nmi.tsc = after - 1;
        STEP_ON();
        newest = prof_cpu_newest_tsc(prof_cpu_here());
        STEP_OFF();
        assert_true(newest == before || newest == after);
    } while (nmi.samples == 0);
    sigaction(SIGTRAP, &old, NULL);
    nmi.samples = 0;
    assert_true(steps > 10 && newest == before);
}
