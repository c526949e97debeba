/* SPDX-License-Identifier: Apache-2.0 */

/*
 * prof_stats(): every tick since the last reset is in exactly one account. The
 * number of ticks is the producer's own count, not the sum of the accounts.
 *
 * Counters in other rooms only ever grow. They are collected here, and a reset
 * is a snapshot of them that later calls subtract. Two things do start again at
 * a reset: the stack tree, which is cleared, and the queue, which is discarded.
 */

#include "aggregate/stats.h"

#include "aggregate/accounts.h"
#include "aggregate/addresses.h"
#include "aggregate/calls.h"
#include "aggregate/drain.h"
#include "aggregate/functions.h"
#include "aggregate/stacks.h"
#include "aggregate/sums.h"
#include "base/busy.h"
#include "sample/cpu_state.h"
#include "stream/stream.h"
#include "tick/clock.h"
#include "tick/watchdog.h"

#include <prof/config.h>
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
                       sizeof((struct prof_accounts *)0)->stopped <
                   sizeof(uint64_t),
               "nothing comes after it");

static struct counts at_reset;

uint64_t prof_report_cycles;

/* Reads all counters, and returns how many samples are queued. Those that the
 * interrupt writes must belong to the same tick, so they are read again if a
 * tick came in between; turning interrupts off would not stop an NMI. */
static uint64_t read_counts(struct counts *counts)
{
    const struct prof_cpu *cpu = prof_cpu_here();
    uint64_t queued;

    do {
        counts->ticks = prof_ticks();
        counts->dropped = prof_dropped();
        counts->interrupt_cycles = prof_sampler_cycles(cpu);
        queued = prof_queued();
    } while (prof_ticks() != counts->ticks);
    counts->accounts = *prof_accounts_of(cpu);
    counts->report_cycles = prof_report_cycles;
    counts->refusals = prof_addresses.refusals + prof_functions.refusals +
                       prof_stacks.refusals +
                       (PROF_HAS_CALLS ? prof_calls.refusals : 0);
    return queued;
}

/* Makes (counts) what was counted since the last reset. */
static void subtract_reset(struct counts *counts)
{
    uint64_t *now = &counts->ticks;
    const uint64_t *before = &at_reset.ticks;

    for (size_t i = 0; i < COUNTS_64; i++)
        now[i] -= before[i];
    for (size_t i = 0; PROF_WITH_CALLERS && i < PROF_WALK_REASONS; i++)
        counts->accounts.stopped[i] -= at_reset.accounts.stopped[i];
}

#define DRAINED(of, what)                                                      \
    offsetof(struct counts, accounts.drained[PROF_CLASS_##of].what)
#define COUNTED(what) offsetof(struct counts, what)
#define STATS(what) offsetof(struct prof_stats, what)

/* Which counter is which member of prof_stats; all are of 64 bits. Masked
 * samples and the profiler's own are included in attributed here; take_sums()
 * separates them. */
static const struct {
    uint8_t from;
    uint16_t to;
} members[] = {
    {DRAINED(ATTRIBUTED, samples), STATS(attributed)},
    {DRAINED(ATTRIBUTED, cycles), STATS(attributed_cycles)},
    {DRAINED(IDLE, samples), STATS(idle)},
    {DRAINED(IDLE, cycles), STATS(idle_cycles)},
    {DRAINED(UNRESOLVED, samples), STATS(unresolved)},
    {DRAINED(UNRESOLVED, cycles), STATS(unresolved_cycles)},
#if PROF_WITH_USER
    {DRAINED(USER, samples), STATS(user)},
    {DRAINED(USER, cycles), STATS(user_cycles)},
#endif
    {COUNTED(accounts.dropped.cycles), STATS(dropped_cycles)},
    {COUNTED(accounts.overflowed), STATS(overflowed)},
    {COUNTED(accounts.caller_unreachable), STATS(caller_unreachable)},
    {COUNTED(accounts.stolen_cycles), STATS(stolen_cycles)},
    {COUNTED(accounts.drain_cycles), STATS(drain_cycles)},
    {COUNTED(ticks), STATS(ticks)},
    {COUNTED(dropped), STATS(dropped)},
    {COUNTED(interrupt_cycles), STATS(interrupt_cycles)},
    {COUNTED(report_cycles), STATS(report_cycles)},
};

/* The counters of all rooms. */
static void take_counts(struct prof_stats *stats, const struct counts *counts)
{
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        __builtin_memcpy((char *)stats + members[i].to,
                         (const char *)counts + members[i].from,
                         sizeof(uint64_t));
    stats->dropped_cycles += counts->accounts.no_memory.cycles;
    for (uint32_t i = 0; PROF_WITH_CALLERS && i < PROF_WALK_REASONS; i++)
        stats->stopped[i] = counts->accounts.stopped[i];
    stats->refusals = (uint32_t)counts->refusals;
    stats->forgotten = at_reset.ticks;
    stats->missed = prof_clock_missed();
    if (PROF_WITH_PIT)
        stats->tick = prof_tick_stats();
}

/* What is not counted by the drain, but summed over the stack tree. */
static void take_sums(struct prof_stats *stats, const struct prof_sums *sums)
{
    if (PROF_WITH_CLASSES) {
        stats->attributed -= sums->masked.samples;
        stats->attributed_cycles -= sums->masked.cycles;
        stats->masked = sums->masked.samples;
        stats->masked_cycles = sums->masked.cycles;
        stats->exits = sums->vm_exit.samples;
        stats->exits_cycles = sums->vm_exit.cycles;
    }
    if (PROF_HAS_CALLS) {
        stats->attributed -= sums->own.samples;
        stats->attributed_cycles -= sums->own.cycles;
        stats->own = sums->own.samples;
        stats->own_cycles = sums->own.cycles;
    }
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
    const struct prof_sums *sums;
    struct counts counts;

    prof_enter();
    sums = prof_sums();
    *stats = (struct prof_stats){.queued = read_counts(&counts)};
    subtract_reset(&counts);
    take_counts(stats, &counts);
    take_sums(stats, sums);
    if (PROF_WITH_STREAM)
        read_stream(stats);
    stats->elapsed_cycles = stats->attributed_cycles + stats->masked_cycles +
                            stats->idle_cycles + stats->unresolved_cycles +
                            stats->dropped_cycles +
                            (PROF_WITH_USER ? stats->user_cycles : 0);
    prof_leave();
}

void prof_stats_open(void)
{
    at_reset = (struct counts){0};
}

void prof_stats_reset(void)
{
    (void)read_counts(&at_reset);
}
