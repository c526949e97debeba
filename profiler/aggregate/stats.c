/* SPDX-License-Identifier: Apache-2.0 */

/*
 * prof_stats(): every tick since the last reset is in exactly one account. The
 * number of ticks is the producer's own count, not the sum of the accounts.
 *
 * Counters in other rooms only ever grow; a reset is a snapshot of them that
 * later calls subtract. Two things do start again at a reset: the stack tree,
 * which is cleared, and the queue, which is discarded.
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
#include "base/options.h"
#include "sample/cpus.h"
#include "stream/stream.h"
#include "tick/clock.h"
#include "tick/source.h"

#include <prof/config.h>
#include <stddef.h>

/* All counters, since prof_init(). */
struct counts {
    struct prof_sample_counts samples;
    uint64_t report_cycles;
    uint64_t refusals;
    struct prof_accounts accounts;
    struct prof_tick_stats tick;
};

/* With the sums, of which a reset needs no snapshot. */
struct totals {
    struct counts counts;
    struct prof_sums sums;
};

/* Counters are of 64 bits up to accounts.stopped, and of 32 from there on. */
#define COUNTS_64 (offsetof(struct counts, accounts.stopped) / sizeof(uint64_t))
#define COUNTS_32                                                              \
    ((sizeof(struct counts) - offsetof(struct counts, accounts.stopped)) /     \
     sizeof(uint32_t))

_Static_assert(sizeof(struct prof_accounts) -
                       offsetof(struct prof_accounts, stopped) -
                       sizeof((struct prof_accounts *)0)->stopped <
                   sizeof(uint64_t),
               "stopped is the last");

static struct counts at_reset;

#if PROF_CPUS_MAX > 1
/* Each CPU's own, read with the sum of all: what has a row for each beside the
 * sum must not read them again, since samples come meanwhile. */
struct cpu_counts {
    struct counts counts;
    uint64_t queued;
};

static struct cpu_counts cpus_read[PROF_CPUS_MAX], cpus_at_reset[PROF_CPUS_MAX];
uint32_t prof_shown_cpu;
#endif

uint64_t prof_report_cycles;

/* Reads what belongs to (cpu), and returns how many samples are queued. */
static uint64_t read_cpu(const struct prof_cpu *cpu, struct counts *counts)
{
    uint64_t queued = prof_count_samples(cpu, &counts->samples);

    counts->accounts = *prof_accounts_of(cpu);
    return queued;
}

#if PROF_CPUS_MAX > 1
/* Adds what (cpu) has counted. What is not a CPU's own is not yet in
 * (counts). */
static void add_cpu(const struct counts *cpu, struct counts *counts)
{
    uint64_t *to = &counts->samples.ticks;
    const uint64_t *from = &cpu->samples.ticks;

    for (size_t i = 0; i < COUNTS_64; i++)
        to[i] += from[i];
    for (size_t i = 0; i < PROF_WALK_REASONS; i++)
        counts->accounts.stopped[i] += cpu->accounts.stopped[i];
}

/* Reads (cpu), which is added to (counts) if tables are about it. Returns how
 * many of its samples are queued, as far as they are in (counts). */
static uint64_t take_cpu(const struct prof_cpu *cpu, struct counts *counts)
{
    struct cpu_counts *read = &cpus_read[prof_cpu_number(cpu)];

    *read = (struct cpu_counts){0};
    read->queued = read_cpu(cpu, &read->counts);
    if (!prof_is_shown(cpu))
        return 0;
    add_cpu(&read->counts, counts);
    return read->queued;
}
#endif

/* Reads all counters, and returns how many samples are queued. */
static uint64_t read_counts(struct counts *counts)
{
#if PROF_CPUS_MAX > 1
    uint64_t queued = 0;

    *counts = (struct counts){0};
    PROF_FOR_EACH_CPU (cpu)
        queued += take_cpu(cpu, counts);
#else
    uint64_t queued = read_cpu(PROF_CPU_FIRST, counts);
#endif
    counts->report_cycles = prof_report_cycles;
    counts->refusals = prof_addresses.refusals + prof_functions.refusals +
                       prof_stacks.refusals +
                       (PROF_HAS_CALLS ? prof_calls.refusals : 0);
#if PROF_WITH_PIT
    counts->tick = prof_tick_counts;
#endif
#if PROF_WITH_NMI
    PROF_FOR_EACH_CPU (cpu)
        counts->tick.nmi_duplicates += cpu->nmi.duplicates;
#endif
    return queued;
}

static void subtract(struct counts *counts, const struct counts *less)
{
    uint64_t *now = &counts->samples.ticks;
    const uint64_t *before = &less->samples.ticks;
    uint32_t *now_32 = counts->accounts.stopped;
    const uint32_t *before_32 = less->accounts.stopped;

    for (size_t i = 0; i < COUNTS_64; i++)
        now[i] -= before[i];
    for (size_t i = 0; (PROF_WITH_CALLERS || PROF_WITH_PIT) && i < COUNTS_32;
         i++)
        now_32[i] -= before_32[i];
}

#define DRAINED(of, what)                                                      \
    offsetof(struct totals, counts.accounts.drained[PROF_CLASS_##of].what)
#define COUNTED(what) offsetof(struct totals, counts.what)
#define SUMMED(what) offsetof(struct totals, sums.what)
#define STATS(what) offsetof(struct prof_stats, what)

/* Which of these is which member of prof_stats; all are of 64 bits. */
static const struct {
    uint16_t from;
    uint16_t to;
} members[] = {
    {DRAINED(ATTRIBUTED, samples), STATS(attributed)},
    {DRAINED(ATTRIBUTED, cycles), STATS(attributed_cycles)},
    {DRAINED(IDLE, samples), STATS(idle)},
    {DRAINED(IDLE, cycles), STATS(idle_cycles)},
    {DRAINED(UNRESOLVED, samples), STATS(unresolved)},
    {DRAINED(UNRESOLVED, cycles), STATS(unresolved_cycles)},
    {DRAINED(USER, samples), STATS(user)},
    {DRAINED(USER, cycles), STATS(user_cycles)},
    {COUNTED(accounts.dropped.cycles), STATS(dropped_cycles)},
    {COUNTED(accounts.overflowed), STATS(overflowed)},
    {COUNTED(accounts.caller_unreachable), STATS(caller_unreachable)},
    {COUNTED(accounts.stolen_cycles), STATS(stolen_cycles)},
#if PROF_WITH_KVM
    {COUNTED(accounts.stolen_short_cycles), STATS(stolen_short_cycles)},
#endif
#if PROF_WITH_NMI
    {COUNTED(accounts.irqs_off.samples), STATS(irqs_off)},
    {COUNTED(accounts.irqs_off.cycles), STATS(irqs_off_cycles)},
#endif
    {COUNTED(accounts.drain_cycles), STATS(drain_cycles)},
    {COUNTED(samples.ticks), STATS(ticks)},
    {COUNTED(samples.dropped), STATS(dropped)},
    {COUNTED(samples.interrupt_cycles), STATS(interrupt_cycles)},
    {COUNTED(report_cycles), STATS(report_cycles)},
    {SUMMED(masked.samples), STATS(masked)},
    {SUMMED(masked.cycles), STATS(masked_cycles)},
    {SUMMED(own.samples), STATS(own)},
    {SUMMED(own.cycles), STATS(own_cycles)},
    {SUMMED(vm_exit.samples), STATS(exits)},
    {SUMMED(vm_exit.cycles), STATS(exits_cycles)},
};

static void take_totals(struct prof_stats *stats, const struct totals *totals)
{
    const struct counts *counts = &totals->counts;

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        __builtin_memcpy((char *)stats + members[i].to,
                         (const char *)totals + members[i].from,
                         sizeof(uint64_t));
    if (PROF_WITH_CLASSES || PROF_HAS_CALLS) { /* the drain does not know */
        stats->attributed -= stats->masked + stats->own;
        stats->attributed_cycles -= stats->masked_cycles + stats->own_cycles;
    }
    if (PROF_HAS_CALLS) { /* these were unresolved */
        const struct prof_amount *unnamed = &totals->sums.own_unnamed;

        stats->attributed += unnamed->samples;
        stats->attributed_cycles += unnamed->cycles;
        stats->unresolved -= unnamed->samples;
        stats->unresolved_cycles -= unnamed->cycles;
    }
    stats->dropped_cycles += counts->accounts.no_memory.cycles;
    for (uint32_t i = 0; PROF_WITH_CALLERS && i < PROF_WALK_REASONS; i++)
        stats->stopped[i] = counts->accounts.stopped[i];
    stats->elapsed_cycles = stats->attributed_cycles + stats->masked_cycles +
                            stats->idle_cycles + stats->unresolved_cycles +
                            stats->dropped_cycles +
                            (PROF_WITH_USER ? stats->user_cycles : 0);
    stats->addresses = totals->sums.addresses;
    stats->functions = totals->sums.functions;
    stats->refusals = (uint32_t)counts->refusals;
    if (PROF_WITH_PIT)
        stats->tick = counts->tick;
}

static uint64_t missed_in_all(void)
{
    uint64_t missed = 0;

    PROF_FOR_EACH_CPU (cpu)
        if (prof_is_shown(cpu))
            missed += prof_clock_missed(cpu);
    return missed;
}

/* The sums may take long, so they are made before the interrupt's counters are
 * read: all of these then belong to nearly the same moment. */
void prof_stats(struct prof_stats *stats)
{
    struct totals totals;

    prof_enter();
    totals.sums = *prof_sums();
    *stats = (struct prof_stats){.queued = read_counts(&totals.counts)};
    subtract(&totals.counts, &at_reset);
    take_totals(stats, &totals);
    stats->stacks = prof_stacks.used;
    stats->forgotten = at_reset.samples.ticks;
    stats->missed = missed_in_all();
    prof_stream_stats(stats);
    prof_leave();
}

void prof_stats_open(void)
{
    at_reset = (struct counts){0};
#if PROF_CPUS_MAX > 1
    prof_shown_cpu = PROF_OPTION(cpu);
    __builtin_memset(cpus_at_reset, 0, sizeof cpus_at_reset);
    __builtin_memset(cpus_read, 0, sizeof cpus_read);
#endif
#if PROF_WITH_PIT
    prof_tick_counts = (struct prof_tick_stats){0};
#endif
}

void prof_stats_reset(void)
{
    (void)read_counts(&at_reset);
#if PROF_CPUS_MAX > 1
    __builtin_memcpy(cpus_at_reset, cpus_read, sizeof cpus_at_reset);
#endif
}

/* ---- one CPU */

#if PROF_CPUS_MAX > 1
static void fill_stats(const struct prof_cpu *cpu, const struct cpu_counts *now,
                       struct prof_cpu_stats *stats)
{
    struct counts counts = now->counts;
    const struct prof_amount *drained = counts.accounts.drained;

    subtract(&counts, &cpus_at_reset[prof_cpu_number(cpu)].counts);
    *stats = (struct prof_cpu_stats){.queued = now->queued};
    stats->joined = prof_drain_reads(cpu);
    stats->tsc_offset = prof_cpu_link(cpu)->tsc_offset;
    stats->tsc_error = prof_cpu_link(cpu)->tsc_error;
    stats->ticks = counts.samples.ticks;
    stats->attributed = drained[PROF_CLASS_ATTRIBUTED].samples;
    stats->idle = drained[PROF_CLASS_IDLE].samples;
    stats->unresolved = drained[PROF_CLASS_UNRESOLVED].samples;
    stats->user = drained[PROF_CLASS_USER].samples;
    stats->dropped = counts.samples.dropped;
    stats->busy_cycles = drained[PROF_CLASS_ATTRIBUTED].cycles +
                         drained[PROF_CLASS_UNRESOLVED].cycles +
                         drained[PROF_CLASS_USER].cycles +
                         counts.accounts.dropped.cycles +
                         counts.accounts.no_memory.cycles;
    stats->idle_cycles = drained[PROF_CLASS_IDLE].cycles;
    stats->stolen_cycles = counts.accounts.stolen_cycles;
    stats->missed = prof_clock_missed(cpu);
    stats->interrupt_cycles = counts.samples.interrupt_cycles;
}

bool prof_cpu_stats(uint32_t number, struct prof_cpu_stats *stats)
{
    const struct prof_cpu *cpu;
    struct cpu_counts now = {0};

    if (number >= prof_cpu_count())
        return false;
    cpu = &prof_cpus[number];
    prof_enter();
    now.queued = read_cpu(cpu, &now.counts);
    fill_stats(cpu, &now, stats);
    prof_leave();
    return true;
}

bool prof_stats_of_cpu(uint32_t number, struct prof_cpu_stats *stats)
{
    if (number >= prof_cpu_count())
        return false;
    fill_stats(&prof_cpus[number], &cpus_read[number], stats);
    return true;
}
#endif

/* ---- the raw profile */

void prof_visit(void (*visit)(const struct prof_row *row, void *context),
                void *context)
{
    prof_enter();
    (void)prof_sums();
    for (uint32_t i = 1; i < prof_functions.used; i++) {
        const struct prof_function *function = prof_function_at(i);
        const struct prof_row row = {
            .address = function->record.key,
            .samples = function->self.samples,
            .cycles = function->self.cycles,
            .named = prof_function_is_named(function),
        };

        if (row.samples != 0)
            visit(&row, context);
    }
    prof_leave();
}

void prof_visit_stacks(void (*visit)(const struct prof_stack_row *row,
                                     void *context),
                       void *context)
{
    uintptr_t addresses[PROF_STACK_MAX];

    prof_enter();
    for (uint32_t i = 1; PROF_WITH_TREES && i < prof_stacks.used; i++) {
        const struct prof_stack *stack = prof_stack_at(i);
        struct prof_stack_row row = {
            .addresses = addresses,
            .samples = stack->self.samples,
            .cycles = stack->self.cycles,
            .first_tsc = stack->first_tsc,
            .last_tsc = stack->last_tsc,
        };

        if (row.samples == 0)
            continue;
        for (; stack != prof_stack_at(0) && row.count < PROF_STACK_MAX;
             stack = prof_stack_at(stack->record.parent))
            addresses[row.count++] = stack->record.key;
        visit(&row, context);
    }
    prof_leave();
}
