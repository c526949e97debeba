/* SPDX-License-Identifier: Apache-2.0 */

/* The accounts: every tick since the last reset is in exactly one of them. */

#include "cpu.h"
#include "drain.h"
#include "site.h"
#include "state.h"
#include "stream.h"

/* What the interrupt writes, read in one piece. */
static void read_hot(struct prof_stats *stats)
{
    bool on = prof_interrupts_save();

    stats->dropped = prof_dropped();
    stats->dropped_cycles = prof_hot.spill.dropped_cycles -
                            prof_state.dropped_cycles_before +
                            prof_state.homeless_cycles;
    stats->interrupt_cycles =
        prof_hot.interrupt_cycles - prof_state.interrupt_before;
    stats->queued = prof_queued();
    for (uint32_t i = 0; i < PROF_WALK_REASONS; i++)
        stats->stopped[i] =
            prof_state.stopped[i] - prof_state.stopped_before[i];
    prof_interrupts_restore(on);
}

static void read_stream(struct prof_stats *stats)
{
    struct prof_stream_sums sums;

    prof_stream_sums(&sums);
    stats->stream_packets = sums.packets;
    stats->stream_bytes = sums.bytes;
    stats->stream_discarded = sums.discarded;
}

void prof_stats(struct prof_stats *stats)
{
    const struct prof_counts *counts = &prof_state.counts;
    int64_t missed = prof_state.time.missed;
    struct prof_site_sum sites = prof_site_sum_all();

    *stats = (struct prof_stats){
        .attributed = counts->count[PROF_CLASS_ATTRIBUTED] - sites.opens,
        .masked = sites.opens,
        .idle = counts->count[PROF_CLASS_IDLE],
        .unresolved = counts->count[PROF_CLASS_UNRESOLVED],
        .attributed_cycles =
            counts->cycles[PROF_CLASS_ATTRIBUTED] - sites.opens_cycles,
        .masked_cycles = sites.opens_cycles,
        .exits = sites.exits,
        .exits_cycles = sites.exits_cycles,
        .stolen_cycles = prof_state.stolen_cycles,
        .idle_cycles = counts->cycles[PROF_CLASS_IDLE],
        .unresolved_cycles = counts->cycles[PROF_CLASS_UNRESOLVED],
        .missed = missed > 0 ? (uint64_t)missed : 0,
        .overflowed = prof_state.overflowed,
        .far = prof_state.far,
        .forgotten = prof_state.forgotten,
        .drain_cycles = prof_state.drain_cycles,
        .report_cycles = prof_state.report_cycles,
        .addresses = prof_state.addresses.used,
        .functions = prof_state.functions.used,
        .stacks = prof_state.stacks.used,
        .refusals = prof_state.addresses.refusals +
                    prof_state.functions.refusals + prof_state.stacks.refusals +
                    prof_state.calls.refusals + prof_state.callables.refusals,
        .gate_taken_back = prof_state.gate_taken_back,
        .pit_taken_back = prof_state.pit_taken_back,
    };
    read_stream(stats);
    if (!prof_state.ready)
        return;
    read_hot(stats);
    stats->ticks = stats->attributed + stats->masked + stats->idle +
                   stats->unresolved + stats->dropped + stats->queued;
    stats->elapsed_cycles = stats->attributed_cycles + stats->masked_cycles +
                            stats->idle_cycles + stats->unresolved_cycles +
                            stats->dropped_cycles;
}
