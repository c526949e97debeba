/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The consumer's side: from the fixed vector and the small table into the heap
 * map, at a time when the heap may be used.
 *
 * The order is what keeps each sample's time right. Samples reach the small
 * table only while the vector is full, and the vector stays full until its
 * entries are given back. So the drain first reads the vector to its end, and
 * then, with interrupts off for a few stores, gives the entries back and takes
 * the small table, both at once: whatever is in the table came after every
 * entry read so far and before every entry that will follow.
 *
 * The stream is told of everything here, in the order of time.
 *
 * Where the map can take no more, the rest stays where it is, is counted as
 * queued, and is tried again by the next drain. Only when half of the vector
 * waits like that are samples dropped, the oldest first and those alone that
 * have no room: what is known goes on to count when there is no memory left.
 */

#include "drain.h"

#include "cpu.h"
#include "place.h"
#include "site.h"
#include "state.h"
#include "stream.h"
#include "watch.h"

/* Ticks that come during a drain make it go round again; this often at most. */
#define ROUNDS_MAX 4

/* Ticks that are known by now to have been lost before (tsc), and time. */
static void tell_missed(uint64_t tsc)
{
    int64_t missed = prof_state.time.missed - prof_state.missed_told;

    if (prof_state.stolen_cycles != prof_state.stolen_told)
        prof_stream_stolen(tsc,
                           prof_state.stolen_cycles - prof_state.stolen_told);
    prof_state.stolen_told = prof_state.stolen_cycles;
    if (missed <= 0)
        return;
    prof_stream_miss(tsc, (uint32_t)missed);
    prof_state.missed_told += missed;
}

/* The cycles that the sample of (pc) at (tsc) stands for. Where ticks were
 * missed before it, and not because interrupts were off, nothing ran. */
static uint64_t step(uintptr_t pc, uint64_t tsc)
{
    uint64_t cycles = prof_timebase_step(&prof_state.time, tsc);

    if (prof_state.time.gap != 0 && !prof_site_opens(pc))
        prof_state.stolen_cycles += prof_state.time.gap;
    return cycles;
}

/* Whether so much waits that the interrupt will soon find no room. */
static bool is_crowded(void)
{
    const struct prof_ring *ring = &prof_hot.ring;
    size_t waiting =
        prof_ring_distance(ring, prof_state.read, prof_ring_head(ring));

    return waiting > (size_t)(ring->end - ring->begin) / 2 ||
           prof_frames_half_full(&prof_hot.frames, prof_state.frames_read);
}

/* Samples that there is no memory for are in no map, but in the accounts. */
static void drop_homeless(uint64_t tsc, uint64_t samples, uint64_t cycles)
{
    prof_state.homeless += samples;
    prof_state.homeless_cycles += cycles;
    prof_stream_drop(tsc, (uint32_t)samples, cycles);
}

/* Takes over one entry that there is no room for, where it will not wait for
 * some: in a panic the stream learns its address. False: it may wait. */
static bool tell_homeless(const struct prof_entry *entry)
{
    uint64_t tsc = prof_entry_tsc(entry);

    if (prof_state.dying)
        prof_stream_spill(tsc, entry->pc, 1,
                          prof_timebase_step(&prof_state.time, tsc));
    else if (is_crowded())
        drop_homeless(tsc, 1, step(entry->pc, tsc));
    else
        return false;
    return true;
}

/* Takes over one entry without callers at an address that is well known. */
static void drain_flat(struct prof_cell *address, uint64_t tsc)
{
    uint64_t cycles = step(address->key, tsc);

    prof_place_credit_flat(address, cycles, tsc);
    tell_missed(tsc);
    prof_stream_sample(tsc, address->node);
}

/* The same for any other, with its words. False: no room for it. */
static bool drain_stack(const struct prof_entry *entry,
                        struct prof_cell *address, uint64_t tsc)
{
    struct prof_place place = {.pc = entry->pc, .address = address};
    const uint32_t *words =
        prof_frames_at(&prof_hot.frames, prof_state.frames_read);

    if (!prof_place_find(&place, words, entry->frames))
        return tell_homeless(entry);
    prof_place_credit(&place, 1, step(entry->pc, tsc), tsc);
    tell_missed(tsc);
    if (place.class == PROF_CLASS_IDLE)
        prof_stream_idle(tsc);
    else
        prof_stream_sample(tsc, place.node);
    prof_state.far += place.far;
    if (place.stop != 0)
        prof_state.stopped[place.stop]++;
    return true;
}

/* Takes over one entry; false: no room for it. */
static bool drain_entry(const struct prof_entry *entry)
{
    struct prof_cell *address = prof_place_address(entry->pc);
    uint64_t tsc = prof_entry_tsc(entry);

    if (entry->frames != 0 || address == NULL || address->node == 0)
        return drain_stack(entry, address, tsc);
    drain_flat(address, tsc);
    return true;
}

/* The entry that was read is free, but for its being given back. */
static void clear_read(void)
{
    struct prof_entry *entry = prof_state.read;

    if (entry->divisor != 0)
        prof_timebase_change(&prof_state.time, entry->divisor);
    entry->frames = entry->divisor = 0;
}

/* Reads the vector up to where it is now. False: no room for what is left. */
static bool drain_vector(void)
{
    const struct prof_entry *head = prof_ring_head(&prof_hot.ring);

    while (prof_state.read != head && drain_entry(prof_state.read)) {
        prof_state.frames_read += prof_walk_words(prof_state.read->frames);
        clear_read();
        prof_state.read = prof_ring_next(&prof_hot.ring, prof_state.read);
    }
    prof_frames_release(&prof_hot.frames, prof_state.frames_read);
    return prof_state.read == head;
}

/* Takes over what one address has in the half that was taken. False: no room
 * for it, and it may wait. */
static bool drain_slot(const struct prof_slot *slot)
{
    struct prof_place place = {.pc = slot->pc};
    uint64_t tsc = prof_state.taken_tsc;

    place.address = prof_place_address(slot->pc);
    if (prof_place_find(&place, NULL, 0)) {
        prof_place_credit(&place, slot->count, slot->cycles, tsc);
    } else if (!prof_state.dying) {
        if (!is_crowded())
            return false;
        drop_homeless(tsc, slot->count, slot->cycles);
        return true;
    }
    prof_stream_spill(tsc, slot->pc, slot->count, slot->cycles);
    prof_state.overflowed += slot->count;
    return true;
}

/* Empties the half that was taken. False: no room for what is left. */
static bool drain_taken(void)
{
    while (prof_state.taken != NULL && prof_state.taken_at < PROF_SPILL_SLOTS) {
        struct prof_slot *slot = &prof_state.taken[prof_state.taken_at];

        if (slot->count != 0 && !drain_slot(slot))
            return false;
        slot->count = 0;
        prof_state.taken_at++;
    }
    prof_state.taken = NULL;
    return true;
}

/* Samples that came while the vector was full and are not taken yet. */
static uint64_t spill_new(void)
{
    return prof_hot.spill.waiting + prof_hot.spill.dropped -
           prof_state.dropped_seen;
}

/* Interrupts off, vector read to its end: takes what came after it. */
static void take_spill(void)
{
    struct prof_spill *spill = &prof_hot.spill;

    prof_timebase_skip(&prof_state.time, spill->last_tsc, spill_new());
    prof_state.taken_tsc = spill->last_tsc;
    prof_state.dropped_seen = spill->dropped;
    prof_state.dropped_cycles_seen = spill->dropped_cycles;
    prof_state.taken = prof_spill_take(spill);
    prof_state.taken_at = 0;
}

/*
 * Gives the vector's read entries back, and takes the small table with them
 * if there is something in it. Returns whether there is more to be drained.
 */
static bool hand_over(void)
{
    bool on = prof_interrupts_save();
    bool at_end = prof_state.read == prof_hot.ring.head;
    bool spilled = spill_new() != 0;
    bool take = spilled && at_end && prof_state.taken == NULL;

    if (take)
        take_spill();
    if (take || !spilled)
        prof_ring_release(&prof_hot.ring, prof_state.read);
    prof_interrupts_restore(on);
    return spilled || !at_end;
}

/* What came while even the small table was full, as of the last taking. */
static void tell_dropped(void)
{
    uint64_t dropped = prof_state.dropped_seen - prof_state.dropped_told;

    if (dropped == 0)
        return;
    prof_stream_drop(prof_state.taken_tsc, (uint32_t)dropped,
                     prof_state.dropped_cycles_seen -
                         prof_state.dropped_cycles_told);
    prof_state.dropped_told = prof_state.dropped_seen;
    prof_state.dropped_cycles_told = prof_state.dropped_cycles_seen;
}

/* Walks that ended early, and that this drain is over. */
static void tell_end(uint64_t tsc)
{
    for (uint32_t i = 0; i < PROF_WALK_REASONS; i++) {
        uint32_t stopped = prof_state.stopped[i];

        if (stopped != prof_state.stopped_told[i])
            prof_stream_stopped_walk(tsc, i,
                                     stopped - prof_state.stopped_told[i]);
        prof_state.stopped_told[i] = stopped;
    }
    prof_stream_flush(tsc);
}

void prof_drain_all(void)
{
    bool more = true;

    for (int round = 0; more && round < ROUNDS_MAX; round++) {
        bool room = drain_taken() && drain_vector();

        more = hand_over() && room;
        tell_dropped();
    }
}

/* Tells of what is in the vector and believes nothing else. */
static void tell_vector(void)
{
    const struct prof_entry *head = prof_ring_head(&prof_hot.ring);

    while (prof_state.read != head) {
        (void)tell_homeless(prof_state.read);
        prof_state.read = prof_ring_next(&prof_hot.ring, prof_state.read);
    }
}

void prof_drain_last(void)
{
    bool interrupted = prof_state.draining;

    if (!prof_state.ready)
        return;
    prof_state.draining = prof_state.dying = true;
    if (interrupted)
        tell_vector();
    else
        prof_drain_all();
    prof_stream_discard(prof_queued() + prof_hot.spill.dropped -
                        prof_state.dropped_told);
}

void prof_drain(void)
{
    uint64_t begin = prof_tsc();

    if (!prof_state.ready || prof_state.draining)
        return;
    prof_state.draining = true;
    prof_drain_all();
    tell_end(prof_tsc());
    prof_watch();
    prof_state.draining = false;
    prof_state.drain_cycles += prof_tsc() - begin;
}

static void clear_taken(void)
{
    for (uint32_t i = 0; prof_state.taken != NULL && i < PROF_SPILL_SLOTS; i++)
        prof_state.taken[i].count = 0;
    prof_state.taken = NULL;
}

void prof_drain_discard(void)
{
    const struct prof_ring *ring = &prof_hot.ring;

    clear_taken();
    prof_state.frames_read = prof_hot.frames.head;
    prof_frames_release(&prof_hot.frames, prof_state.frames_read);
    if (prof_state.read != ring->head) {
        uint64_t tsc = prof_entry_tsc(prof_ring_before(ring, ring->head));

        prof_timebase_skip(
            &prof_state.time, tsc,
            prof_ring_distance(ring, prof_state.read, ring->head));
    }
    for (; prof_state.read != ring->head;
         prof_state.read = prof_ring_next(ring, prof_state.read))
        clear_read();
    if (spill_new() != 0) {
        take_spill();
        clear_taken();
    }
    prof_ring_release(&prof_hot.ring, prof_state.read);
}

uint64_t prof_queued(void)
{
    const struct prof_ring *ring = &prof_hot.ring;
    uint64_t queued = prof_hot.spill.waiting;

    queued += prof_ring_distance(ring, prof_state.read, prof_ring_head(ring));
    if (prof_state.taken != NULL)
        for (uint32_t i = prof_state.taken_at; i < PROF_SPILL_SLOTS; i++)
            queued += prof_state.taken[i].count;
    return queued;
}

uint64_t prof_dropped(void)
{
    return prof_hot.spill.dropped - prof_state.dropped_before +
           prof_state.homeless;
}
