/* SPDX-License-Identifier: Apache-2.0 */

/*
 * prof_stats(): every tick since the last reset is in exactly one account. The
 * number of ticks is the producer's own count, not the sum of the accounts.
 *
 * Counters in other rooms only ever grow. They are collected here, and a reset
 * is a snapshot of them that later calls subtract. Two things do start again at
 * a reset: the stack tree, which is cleared, and the queue, which is discarded.
 */

#include "control/control.h"
#include "profile/accounts.h"
#include "profile/addresses.h"
#include "profile/calls.h"
#include "profile/drain.h"
#include "profile/functions.h"
#include "profile/stacks.h"
#include "profile/sums.h"
#include "report/report.h"
#include "sample/cpu_state.h"
#include "stream/stream.h"
#include "tick/clock.h"

#include <stddef.h>

/* All counters, since prof_init(). */
struct counts {
    uint64_t ticks;
    uint64_t dropped;
    uint64_t interrupt_cycles;
    uint64_t report_cycles;
    uint64_t refusals;
    struct prof_accounts accounts;
};

/* All are of 64 bits up to accounts.stopped, the last. */
#define COUNTS_64 (offsetof(struct counts, accounts.stopped) / sizeof(uint64_t))

_Static_assert(sizeof(struct prof_accounts) -
                       offsetof(struct prof_accounts, stopped) -
                       sizeof prof_accounts.stopped <
                   sizeof(uint64_t),
               "nothing comes after it");

static struct counts at_reset;

/* Reads all counters, and returns how many samples are queued. Those that the
 * interrupt writes must belong to the same tick, so they are read again if a
 * tick came in between; turning interrupts off would not stop an NMI. */
static uint64_t read_counts(struct counts *counts)
{
    uint64_t queued;

    do {
        counts->ticks = prof_ticks();
        counts->dropped = prof_dropped();
        counts->interrupt_cycles =
            prof_cpus[0].interrupt_cycles - prof_cpus[0].observed_cycles;
        queued = prof_queued();
    } while (prof_ticks() != counts->ticks);
    counts->accounts = prof_accounts;
    counts->report_cycles = prof_report_cycles();
    counts->refusals = prof_addresses.refusals + prof_functions.refusals +
                       prof_stacks.refusals + prof_calls.refusals;
    return queued;
}

/* Makes (counts) what was counted since the last reset. */
static void subtract_reset(struct counts *counts)
{
    uint64_t *now = &counts->ticks;
    const uint64_t *before = &at_reset.ticks;

    for (size_t i = 0; i < COUNTS_64; i++)
        now[i] -= before[i];
    for (size_t i = 0; i < PROF_WALK_REASONS; i++)
        counts->accounts.stopped[i] -= at_reset.accounts.stopped[i];
}

/* The drain's accounts. Masked samples are included in attributed here;
 * take_sums() separates them. */
static void take_accounts(struct prof_stats *stats,
                          const struct prof_accounts *accounts)
{
    const struct prof_amount *drained = accounts->drained;

    stats->attributed = drained[PROF_CLASS_ATTRIBUTED].samples;
    stats->attributed_cycles = drained[PROF_CLASS_ATTRIBUTED].cycles;
    stats->idle = drained[PROF_CLASS_IDLE].samples;
    stats->idle_cycles = drained[PROF_CLASS_IDLE].cycles;
    stats->unresolved = drained[PROF_CLASS_UNRESOLVED].samples;
    stats->unresolved_cycles = drained[PROF_CLASS_UNRESOLVED].cycles;
    stats->dropped_cycles =
        accounts->dropped.cycles + accounts->no_memory.cycles;
    stats->overflowed = accounts->overflowed;
    stats->caller_unreachable = accounts->caller_unreachable;
    stats->stolen_cycles = accounts->stolen_cycles;
    stats->drain_cycles = accounts->drain_cycles;
    for (uint32_t i = 0; i < PROF_WALK_REASONS; i++)
        stats->stopped[i] = accounts->stopped[i];
}

/* The counters of all other rooms. */
static void take_counts(struct prof_stats *stats, const struct counts *counts)
{
    stats->ticks = counts->ticks;
    stats->dropped = counts->dropped;
    stats->interrupt_cycles = counts->interrupt_cycles;
    stats->report_cycles = counts->report_cycles;
    stats->refusals = (uint32_t)counts->refusals;
    stats->forgotten = at_reset.ticks;
    stats->missed = prof_clock_missed();
    stats->tick = prof_tick_stats();
}

/* What is not counted by the drain, but summed over the stack tree. */
static void take_sums(struct prof_stats *stats, const struct prof_sums *sums)
{
    stats->attributed -= sums->masked.samples;
    stats->attributed_cycles -= sums->masked.cycles;
    stats->masked = sums->masked.samples;
    stats->masked_cycles = sums->masked.cycles;
    stats->exits = sums->vm_exit.samples;
    stats->exits_cycles = sums->vm_exit.cycles;
    stats->addresses = sums->addresses;
    stats->functions = sums->functions;
    stats->stacks = prof_stacks.used;
}

static void read_stream(struct prof_stats *stats)
{
    struct prof_stream_sums sums;

    prof_stream_sums(&sums);
    stats->stream_packets = sums.packets;
    stats->stream_bytes = sums.bytes;
    stats->stream_discarded = sums.discarded;
}

/* The sums may take long, so they are made before the interrupt's counters are
 * read: all of these then belong to nearly the same moment. */
void prof_stats(struct prof_stats *stats)
{
    const struct prof_sums *sums = prof_sums();
    struct counts counts;

    *stats = (struct prof_stats){.queued = read_counts(&counts)};
    subtract_reset(&counts);
    take_accounts(stats, &counts.accounts);
    take_counts(stats, &counts);
    take_sums(stats, sums);
    read_stream(stats);
    stats->elapsed_cycles = stats->attributed_cycles + stats->masked_cycles +
                            stats->idle_cycles + stats->unresolved_cycles +
                            stats->dropped_cycles;
}

void prof_stats_open(void)
{
    at_reset = (struct counts){0};
}

void prof_stats_reset(void)
{
    (void)read_counts(&at_reset);
}
