/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The consumer: moves samples from the fixed vector and the overflow table into
 * the stack tree, at a time when the heap may be used, and to the stream.
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

#include "profile/drain.h"

#include "base/busy.h"
#include "base/cpu.h"
#include "profile/addresses.h"
#include "profile/drain_find.h"
#include "profile/drain_state.h"
#include "profile/resolve.h"
#include "profile/stacks.h"
#include "profile/stolen.h"
#include "profile/sums.h"
#include "sample/cpu_state.h"
#include "causal/causal_send.h"
#include "causal/shares.h"
#include "loop/held.h"
#include "loop/loop_stolen.h"
#include "loop/loop.h"
#include "loop/loop_send.h"
#include "stream/stream.h"
#include "tick/clock.h"
#include "tick/watchdog.h"
#include "trace/send.h"

#include <prof/config.h>

/* More samples than these wait for the next drain. */
#define ENTRIES_MAX 1000u

/* Prologues analysed in a drain beyond those that its samples need, and steps
 * (units of work): as many as half of its samples may have new. */
#define PROLOGUES_MAX 128u
#define PROLOGUES_STEPS_MAX 5000u

/* Ticks during a drain cause another round; at most so many. */
#define ROUNDS_MAX 4

struct prof_drain_state prof_drain_state;
static struct prof_drain_state *const drain = &prof_drain_state;

void prof_drain_open(const struct prof_config *config)
{
    prof_image_open(config);
    prof_accounts = (struct prof_accounts){0};
    prof_stacks_open();
    prof_stolen_open();
    prof_recent_open();
    prof_sums_expire();
    prof_drain_state =
        (struct prof_drain_state){.open = true, .read = prof_cpus[0].ring.tail};
}

/* Emits the ticks and the time that were lost before (tsc), and before that the
 * events of objects, whose times are earlier: those of a stream only grow. */
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

/* Handles an entry that was not resolved, unless it waits for the next drain.
 * There is no memory for its stack: in a panic its address is emitted, and if
 * the vector is crowded it is dropped. False: it stays queued. */
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
    prof_held_sample(tsc, entry->pc);
    if (prof_stream_on()) {
        prof_trace_before(tsc);
        prof_stream_sample(tsc, leaf->number, prof_stack_node(leaf->stack));
    }
}

/* Drains one entry; false: it stays queued, as there is no memory for its
 * stack, or no time. */
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
        if (is_dying()) /* it will be emitted, and times only grow */
            prof_trace_before(prof_entry_tsc(entry));
        return drain_unresolved(entry);
    }
    count_entry(entry, leaf);
    return true;
}

/* The end of the entries that this drain may read: the vector's present head,
 * or the position of an overflow half, whichever comes first; or enough. */
static const struct prof_entry *read_until(void)
{
    const struct prof_cpu *cpu = &prof_cpus[0];
    const struct prof_ring *ring = &cpu->ring;
    const struct prof_entry *until =
        prof_overflow_until(&cpu->overflow, ring, drain->read);

    if (prof_ring_bytes(ring, drain->read, until) <=
        ENTRIES_MAX * sizeof *until)
        return until;
    drain->behind = true;
    until = drain->read + ENTRIES_MAX;
    return until < ring->end ? until : until - (ring->end - ring->begin);
}

/* Drains the vector. False: no memory or no time for the rest. */
static bool drain_vector(void)
{
    struct prof_cpu *cpu = &prof_cpus[0];
    const struct prof_entry *until = read_until();
    bool more = drain->behind; /* than these */

    while (drain->read != until && drain_entry(drain->read))
        prof_drain_pass();
    prof_frames_release(&cpu->frames, drain->frames_read);
    return drain->read == until && !more;
}

/* Counts one slot of the half that was taken. False: no memory or no time, and
 * the slot stays queued. */
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

/* Empties the half that was taken. False: no memory or no time for the rest. */
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

static void drain_all(void)
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

/* Emits the addresses in the vector. Used if the panic interrupted a drain, so
 * that no other state can be trusted. */
static void emit_vector(void)
{
    const struct prof_entry *head = prof_ring_head(&prof_cpus[0].ring);

    while (drain->read != head) {
        (void)drain_unresolved(drain->read);
        drain->read = prof_ring_next(&prof_cpus[0].ring, drain->read);
    }
}

void prof_drain_last(void)
{
    bool interrupted = drain->draining;

    if (!PROF_WITH_STREAM || !drain->open)
        return;
    drain->draining = drain->dying = true;
    prof_resolve_begin(true);
    prof_table_freeze(true);
    if (interrupted)
        emit_vector();
    else
        drain_all();
    prof_stream_discard(
        prof_queued() + prof_accounts.dropped.samples -
        prof_stream_emitted.dropped +
        prof_overflow_dropped(&prof_cpus[0].overflow, drain->taken));
}

/* Sends events of objects: all of them, before what is said with the present
 * time; or those before the samples that are left for the next drain. */
static void flush_events(void)
{
    if (drain->behind && drain->read != prof_ring_head(&prof_cpus[0].ring))
        prof_trace_before(prof_entry_tsc(drain->read));
    else
        prof_trace_flush();
}

/* prof_drain(), of entries whose time is known; (tick): in the interrupt. */
static void drain_entries(bool tick)
{
    uint64_t begin = prof_tsc(), now;
    struct prof_loop_frame frame;

    prof_enter();
    if (!tick)
        prof_loop_profiler(&frame);
    drain->draining = true;
    prof_shares_drains();
    if (prof_drain_is_more())
        prof_recent_reserve();
    prof_resolve_begin(false);
    drain->behind = false;
    drain_all();
    drain->behind = drain->behind || prof_resolve_is_enough();
    flush_events();
    if (!drain->behind) {
        prof_stream_stopped_walks(prof_tsc(), prof_accounts.stopped);
        prof_loop_drained(prof_tsc(), prof_accounts.stolen_cycles,
                          prof_clock.step, prof_clock.last_tsc);
        prof_causal_drained(prof_tsc(), prof_accounts.stolen_cycles);
    }
    prof_stream_flush(prof_tsc());
    if (PROF_WITH_PIT && !tick)
        prof_watchdog();
    if (PROF_WITH_CALLERS &&
        prof_resolve_work() < PROLOGUES_STEPS_MAX) /* nothing waits for it */
        prof_addresses_catch_up(PROLOGUES_MAX, PROLOGUES_STEPS_MAX);
    (void)prof_ticks();
    prof_shares_drained();
    drain->draining = false;
    now = prof_tsc();
    if (PROF_WITH_BUILTIN)
        drain->ended_tsc = now;
    prof_accounts.drain_cycles += now - begin;
    if (!tick)
        prof_loop_leave(&frame);
    prof_leave();
}

void prof_drain(void)
{
    prof_enter();
    if (drain->open && !drain->draining && !is_measuring(false)) {
        if (PROF_WITH_BUILTIN)
            prof_meter_say();
        drain_entries(false);
        if (PROF_WITH_PIT && prof_watchdog_gave_up())
            prof_stop();
    }
    prof_leave();
}

#if PROF_WITH_BUILTIN
void prof_drain_in_tick(void)
{
    if (drain->open && !drain->draining && !is_measuring(false))
        drain_entries(true);
}
#endif

void prof_drain_whole(void)
{
    uint64_t most = prof_queued(); /* each drain takes one at least */

    if (PROF_WITH_BUILTIN && (!drain->open || drain->draining))
        return;
    prof_enter();
    (void)is_measuring(true);
    PROF_WITH_BUILTIN ? prof_meter_say() : (void)0;
    do
        PROF_WITH_BUILTIN ? drain_entries(false) : prof_drain();
    while (drain->behind && most-- > 0);
    prof_leave();
}
