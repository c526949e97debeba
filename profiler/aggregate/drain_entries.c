/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The consumer: moves samples from the fixed vector and the overflow table into
 * the stack tree, and to the stream.
 *
 * Samples must be read in the order of time, since each covers the time since
 * the one before. They go to the overflow table only while the vector is full,
 * and each half of the table records at which entry that was (overflow.h). The
 * drain reads up to that entry, releases the entries, empties the half, and
 * continues. It does not turn interrupts off, which would not stop an NMI.
 *
 * If there is no memory for a new stack, the remaining samples stay queued for
 * the next drain. Once half of the vector is queued, samples that need memory
 * are dropped, the oldest first; those of known stacks are still counted.
 */

#include "aggregate/accounts.h"
#include "aggregate/drain_find.h"
#include "aggregate/drain_state.h"
#include "aggregate/resolve.h"
#include "aggregate/stacks.h"
#include "aggregate/stolen.h"
#include "sample/cpu_state.h"
#include "loop/loop.h"
#include "stream/stream.h"
#include "tick/clock.h"
#include "trace/send.h"

#include <prof/config.h>

/* Ticks during a drain cause another round; at most so many. */
#define ROUNDS_MAX 4

static struct prof_drain_state *const drain = &prof_drain_state;

/* Emits the ticks and the time that were lost before (tsc). Times in a stream
 * only grow: so the events of objects before (tsc) are sent first. */
static void emit_lost_ticks(uint64_t tsc)
{
    if (prof_stream_on())
        prof_trace_before(tsc);
    prof_stream_lost_ticks(tsc, prof_clock.missed, prof_accounts.stolen_cycles);
}

/* What a sample of (pc) at (tsc) is charged, in cycles. */
static uint64_t step(uintptr_t pc, uint64_t tsc)
{
    uint64_t cycles = prof_timebase_step(&prof_clock, tsc);
    uint64_t charged = prof_stolen_charge(pc, cycles, prof_clock.gap);

    if (charged != cycles)
        prof_loop_stolen(tsc, cycles - charged);
    return charged;
}

/* Whether more than half of a vector is queued, so that it may fill up soon. */
static bool is_crowded(void)
{
    const struct prof_ring *ring = &prof_cpus[0].ring;
    size_t waiting = prof_ring_bytes(ring, drain->read, prof_ring_head(ring));
    size_t all = (size_t)((const char *)ring->end - (const char *)ring->begin);

    return waiting > all / 2 ||
           prof_frames_half_full(&prof_cpus[0].frames, drain->frames_read);
}

/* Counts samples as dropped because there is no memory for their stack. */
static void drop_no_memory(uint64_t tsc, uint32_t samples, uint64_t cycles)
{
    prof_amount_add(&prof_accounts.no_memory, samples, cycles);
    emit_lost_ticks(tsc);
    prof_stream_drop(tsc, samples, cycles);
}

/* Whether the image panics; what is drained then goes to the stream alone. */
static bool is_dying(void)
{
    return PROF_WITH_STREAM && drain->dying;
}

/*
 * Handles an entry that was not resolved: this drain has resolved enough, or
 * there is no memory for its stack. Without memory its address is emitted in a
 * panic, and the sample is dropped if the vector may fill up soon. False: the
 * entry stays queued.
 */
static bool drain_unresolved(const struct prof_entry *entry)
{
    uint64_t tsc = prof_entry_tsc(entry);

    if (prof_resolve_is_enough())
        return false;
    if (is_dying())
        prof_stream_overflow(tsc, entry->pc, 1,
                             prof_timebase_step(&prof_clock, tsc));
    else if (is_crowded())
        drop_no_memory(tsc, 1, step(entry->pc, tsc));
    else
        return false;
    return true;
}

/* Counts the sample of an entry for its (leaf), and emits it. */
static inline void count_entry(const struct prof_entry *entry,
                               const struct prof_recent_leaf *leaf)
{
    uint64_t tsc = prof_entry_tsc(entry), cycles;

    if (!prof_timebase_step_regular(&prof_clock, tsc, &cycles)) {
        cycles = step(entry->pc, tsc);
        emit_lost_ticks(tsc);
    }
    prof_credit(leaf->stack, 1, cycles, tsc);
    prof_loop_sample(tsc, entry->pc);
    if (prof_stream_on()) {
        prof_trace_before(tsc);
        prof_stream_sample(tsc, leaf->number, prof_stack_node(leaf->stack));
    }
}

/* Drains one entry. False: it stays queued, as there is no memory for its
 * stack, or as this drain has resolved enough. */
static inline bool drain_entry(const struct prof_entry *entry)
{
    const struct prof_recent_leaf *leaf;
    uint32_t walk = entry->frames;

    if (!PROF_WITH_CALLERS || walk == 0)
        leaf = prof_find_flat(entry->pc);
    else if (prof_walk_words(walk) != 0)
        leaf = prof_find_walked(entry, walk);
    else
        leaf = prof_find_unwalked(entry);
    if (leaf == NULL) {
        if (is_dying()) /* its address will be emitted; times only grow */
            prof_trace_before(prof_entry_tsc(entry));
        return drain_unresolved(entry);
    }
    count_entry(entry, leaf);
    return true;
}

/* The end of the entries that may be read now: the vector's present head, or
 * the entry at which the overflow table came into use, whichever comes first;
 * and no more than one drain takes. */
static const struct prof_entry *read_until(void)
{
    const struct prof_cpu *cpu = &prof_cpus[0];
    const struct prof_ring *ring = &cpu->ring;
    const struct prof_entry *until =
        prof_overflow_until(&cpu->overflow, ring, drain->read);
    uint32_t most = PROF_WITH_BUILTIN ? drain->most : PROF_DRAIN_ENTRIES;

    if (prof_ring_bytes(ring, drain->read, until) <= most * sizeof *until)
        return until;
    drain->behind = true;
    until = drain->read + most;
    return until < ring->end ? until : until - (ring->end - ring->begin);
}

/* Drains the vector. False: the rest stays queued. */
static bool drain_vector(void)
{
    struct prof_cpu *cpu = &prof_cpus[0];
    const struct prof_entry *until = read_until();
    bool more = drain->behind; /* entries than these */

    while (drain->read != until && drain_entry(drain->read))
        prof_drain_pass();
    prof_frames_release(&cpu->frames, drain->frames_read);
    return drain->read == until && !more;
}

/* Counts one slot of the half that was taken. False: it stays queued. */
static bool drain_slot(const struct prof_slot *slot)
{
    const struct prof_recent_leaf *leaf = prof_resolve(slot->pc, 0, NULL);
    uint64_t tsc = drain->taken->last_tsc, cycles = slot->cycles;
    bool memory = leaf != NULL;

    if (!memory && prof_resolve_is_enough())
        return false;
    if (!memory && !is_dying() && !is_crowded())
        return false;
    cycles = prof_stolen_charge_all(slot->pc, slot->count, cycles,
                                    &drain->taken_gap);
    if (!memory && !is_dying()) {
        drop_no_memory(tsc, slot->count, cycles);
        return true;
    }
    if (memory)
        prof_credit(leaf->stack, slot->count, cycles, tsc);
    emit_lost_ticks(tsc);
    prof_stream_overflow(tsc, slot->pc, slot->count, cycles);
    prof_accounts.overflowed += slot->count;
    return true;
}

/* Empties the half that was taken. False: the rest stays queued. */
static bool drain_taken(void)
{
    struct prof_overflow_half *half = drain->taken;

    if (half == NULL)
        return true;
    while (drain->taken_at < PROF_OVERFLOW_SLOTS) {
        const struct prof_slot *slot = &half->slots[drain->taken_at];

        if (slot->count != 0 && !drain_slot(slot))
            return false;
        drain->taken_at++;
    }
    drain->taken = NULL;
    prof_overflow_free(half);
    return true;
}

void prof_drain_hand_over(void)
{
    struct prof_cpu *cpu = &prof_cpus[0];
    struct prof_amount *dropped = &prof_accounts.dropped;
    struct prof_overflow_half *half =
        prof_overflow_take(&cpu->overflow, &cpu->ring, drain->read);

    if (half == NULL)
        return;
    drain->taken = half;
    drain->taken_at = 0;
    prof_timebase_skip(&prof_clock, half->last_tsc,
                       prof_overflow_samples(half, 0) + half->dropped);
    drain->taken_gap = prof_clock.gap;
    prof_amount_add(dropped, half->dropped,
                    prof_stolen_charge_all(0, half->dropped,
                                           half->dropped_cycles,
                                           &drain->taken_gap));
    emit_lost_ticks(half->last_tsc);
    prof_stream_dropped(half->last_tsc, dropped->samples, dropped->cycles);
}

void prof_drain_entries(void)
{
    bool all = true;

    for (int round = 0; all && round < ROUNDS_MAX; round++) {
        all = drain_taken() && drain_vector();
        if (drain->taken == NULL)
            prof_drain_hand_over();
        if (!prof_drain_is_more())
            break;
    }
}

#if PROF_WITH_STREAM
void prof_drain_emit_vector(void)
{
    const struct prof_entry *head = prof_ring_head(&prof_cpus[0].ring);

    while (drain->read != head) {
        (void)drain_unresolved(drain->read);
        drain->read = prof_ring_next(&prof_cpus[0].ring, drain->read);
    }
}
#endif
