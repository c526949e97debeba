/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The lines above and below the table. Those below account for every tick,
 * lost ones included, with shares that add up to 100.00 %.
 */

#include "report/report.h"

#include "base/cpu.h"
#include "base/options.h"
#include "aggregate/accounts.h"
#include "aggregate/calls.h"
#include "aggregate/drain.h"
#include "aggregate/image.h"
#include "aggregate/stats.h"
#include "report/share.h"
#include "tick/clock.h"
#include "tick/kvm.h"

#include <prof/config.h>
#include <prof/format.h>
#include <prof/symbols.h>
#include <stddef.h>

/* Known to be 0 where there are no callers, which is what the sums need. */
static uint64_t own_ticks(const struct prof_stats *stats)
{
    return PROF_HAS_CALLS ? stats->own : 0;
}

static uint64_t own_time(const struct prof_stats *stats)
{
    return PROF_HAS_CALLS ? stats->own_cycles : 0;
}

uint64_t prof_summary_whole(const struct prof_stats *stats)
{
    return PROF_OPTION(weight) == PROF_WEIGHT_TIME
               ? stats->elapsed_cycles
               : stats->ticks - own_ticks(stats);
}

void prof_summary_share(struct prof_text *out, uint32_t share)
{
    prof_text_format(out, "%4.2u %%", share);
}

static uint64_t milliseconds(uint64_t cycles)
{
    return prof_divide(cycles, (uint32_t)prof_divide(prof_clock.tsc_hz, 1000));
}

/* Everything since the start, with what was stolen, and the profiler's own. */
static uint64_t whole_time(const struct prof_stats *stats)
{
    return stats->elapsed_cycles + own_time(stats) + stats->stolen_cycles;
}

void prof_summary_head(struct prof_text *out, const struct prof_stats *stats)
{
    bool time = PROF_OPTION(weight) == PROF_WEIGHT_TIME;

    prof_text_string(out, "--- profile: ");
#if PROF_CPUS_MAX > 1
    if (prof_shown_cpu != PROF_CPU_ALL)
        prof_text_format(out, "CPU %u: ", prof_shown_cpu);
#endif
    if (stats->ticks == 0) {
        prof_text_string(out, prof_running() ? "no samples yet ---\n"
                                             : "not started ---\n");
        return;
    }
    prof_text_format(out,
                     "%ju samples in %.3ju s at %.3u Hz, shares of %s ---\n",
                     stats->ticks, milliseconds(whole_time(stats)),
                     prof_clock.rate_mhz, time ? "time" : "samples");
    prof_text_string(out, PROF_WITH_CALLERS && prof_drain_depth() != 0
                              ? "    self      total"
                              : "   share");
    if (PROF_WITH_CLASSES && stats->exits != 0)
        prof_text_string(out, "   in VMM");
    prof_text_string(out, "   samples    address     function\n");
}

/* One row of the accounts, aligned with the columns of the table. */
static void put_account(struct prof_text *out, const char *what, uint64_t ticks,
                        uint32_t share)
{
    prof_text_format(out, "%4.2u %%%10ju    %s\n", share, ticks, what);
}

#define ALWAYS 5 /* the first rows are printed even if they are 0 */

/* Every tick is in exactly one of these rows: offsets in prof_stats of its
 * ticks and cycles. Queued samples have no time yet, 0: the drain finds out how
 * much they cover. */
#define AT(member) offsetof(struct prof_stats, member)
static const struct row {
    const char *what;
    uint16_t ticks, cycles;
} rows[] = {
    {"attributed to functions", AT(attributed), AT(attributed_cycles)},
    {"masked: due while interrupts were off", AT(masked), AT(masked_cycles)},
    {"idle", AT(idle), AT(idle_cycles)},
    {"unresolved addresses", AT(unresolved), AT(unresolved_cycles)},
    {"dropped", AT(dropped), AT(dropped_cycles)},
    {"queued for the next drain", AT(queued), 0},
#if PROF_WITH_USER
    {"user mode", AT(user), AT(user_cycles)},
#endif
};

#define ROWS (sizeof rows / sizeof *rows)

static uint64_t member_of(const struct prof_stats *stats, uint16_t offset)
{
    return *(const uint64_t *)(const void *)((const char *)stats + offset);
}

/* (what), then (cycles) as a share of (whole). */
static void write_part(struct prof_text *out, const char *what, uint64_t cycles,
                       uint64_t whole)
{
    uint32_t share = prof_share_of(cycles > whole ? whole : cycles, whole);

    prof_text_format(out, "%s%.2u %%", what, share);
}

/* Only NMIs see these; they are in the rows above. */
static void write_irqs_off(struct prof_text *out,
                           const struct prof_stats *stats)
{
    if (!PROF_WITH_NMI || !prof_clock.by_nmi)
        return;
    prof_text_format(out, "interrupts were off at %ju of these",
                     stats->irqs_off);
    write_part(out, ", ", stats->irqs_off_cycles, whole_time(stats));
    prof_text_string(out, " of the time\n");
}

static void write_ticks(struct prof_text *out, const struct prof_stats *stats)
{
    bool time = PROF_OPTION(weight) == PROF_WEIGHT_TIME;
    struct prof_share_sum share = {.whole = prof_summary_whole(stats)};

    for (size_t i = 0; i < ROWS; i++) {
        uint64_t ticks = member_of(stats, rows[i].ticks), part = ticks;
        uint32_t given;

        if (time)
            part = rows[i].cycles ? member_of(stats, rows[i].cycles) : 0;
        given = prof_share_next(&share, part);
        if (ticks != 0 || i < ALWAYS)
            put_account(out, rows[i].what, ticks, given);
    }
    if (own_ticks(stats) != 0)
        prof_text_format(out, "%19ju    in the profiler, and in no share\n",
                         own_ticks(stats));
    put_account(out, "all ticks since the start", stats->ticks, share.given);
    write_irqs_off(out, stats);
}

/* The profiler's own overhead, measured by the TSC. */
static void write_cost(struct prof_text *out, const struct prof_stats *stats)
{
    uint64_t whole = whole_time(stats);
    uint64_t all =
        stats->interrupt_cycles + stats->drain_cycles + stats->report_cycles;

    write_part(out, "the profiler itself took ", all, whole);
    write_part(out, " of the time: interrupt ", stats->interrupt_cycles, whole);
    write_part(out, ", drain ", stats->drain_cycles, whole);
    write_part(out, ", report ", stats->report_cycles, whole);
    prof_text_char(out, '\n');
}

/* "(n)(what)"; nothing if (n) is 0. */
static void write_number(struct prof_text *out, uint64_t n, const char *what)
{
    if (n != 0)
        prof_text_format(out, "%ju%s", n, what);
}

static void write_stopped(struct prof_text *out, const struct prof_stats *stats)
{
    static const char *const why[PROF_WALK_REASONS] = {
        [PROF_WALK_DEPTH] = " at prof.depth",
        [PROF_WALK_ROOM] = " out of space",
        [PROF_WALK_UNALIGNED] = " frame pointer not aligned",
        [PROF_WALK_OUTSIDE] = " frame pointer outside the stack",
        [PROF_WALK_FALLING] = " frame pointer not increasing",
        [PROF_WALK_NOT_CODE] = " return address outside the code",
    };
    uint64_t all = 0;

    for (uint32_t i = 0; i < PROF_WALK_REASONS; i++)
        all += stats->stopped[i];
    write_number(out, stats->caller_unreachable,
                 " samples without their caller, in functions without a "
                 "frame\n");
    if (all == 0)
        return;
    write_number(out, all, " stack walks ended early:");
    for (uint32_t i = 1; i < PROF_WALK_REASONS; i++) {
        if (stats->stopped[i] == 0)
            continue;
        prof_text_string(out, all == 0 ? ", " : " ");
        all = 0;
        write_number(out, stats->stopped[i], why[i]);
    }
    prof_text_char(out, '\n');
}

/* Samples of which callers are unknown, because nobody has drained in time. */
#define LACKING_PERCENT 1u
#define PAUSE_MS 100u /* drains are to come more often than that */

static void write_late(struct prof_text *out, const struct prof_stats *stats)
{
    const char *call = prof_image.drained_by;
    uint64_t lacking = stats->overflowed + stats->stopped[PROF_WALK_ROOM];
    uint64_t pause = milliseconds(prof_drain_longest());

    if (prof_drain_depth() == 0 || pause <= PAUSE_MS ||
        lacking * 100 < stats->ticks * LACKING_PERCENT || lacking == 0)
        return;
    prof_text_format(out,
                     "%ju samples (%.2u %%) lack callers: nothing was drained "
                     "for %.3ju s; call %s more often\n",
                     lacking, prof_share_of(lacking, stats->ticks), pause,
                     call != NULL ? call : "prof_poll()");
}

#if PROF_WITH_KVM
/* What the hypervisor says has stolen: all of it, and what could not be taken
 * out of the shares. */
static void write_measured(struct prof_text *out,
                           const struct prof_stats *stats)
{
    uint64_t all = stats->stolen_cycles + stats->stolen_short_cycles;

    prof_text_format(out, "%.3ju s stolen", milliseconds(all));
    write_part(out, ", ", all, whole_time(stats));
    prof_text_string(out, " of the time, by the hypervisor's own account");
    if (stats->stolen_short_cycles != 0)
        prof_text_format(out,
                         "; %.3ju s of it for less than a period at a time, "
                         "the rest is in no share\n",
                         milliseconds(stats->stolen_short_cycles));
    else
        prof_text_string(out, "; it is in no share\n");
}
#endif

/* An estimate (aggregate/stolen.h): less than a period is not noticed, and
 * interrupts that iret enabled late look like stolen time. */
static void write_stolen(struct prof_text *out, const struct prof_stats *stats)
{
#if PROF_WITH_KVM
    if (prof_kvm_steals()) {
        write_measured(out, stats);
        return;
    }
#endif
    if (stats->stolen_cycles == 0)
        return;
    prof_text_format(out, "%.3ju s stolen", milliseconds(stats->stolen_cycles));
    write_part(out, ", ", stats->stolen_cycles, whole_time(stats));
    prof_text_string(out, " of the time: the host did not run the guest; it is "
                          "in no share\n");
}

/* Compares the interrupt's own count of ticks with the samples that the drain
 * found. The two are independent; a difference is a bug in the profiler. */
static void write_difference(struct prof_text *out,
                             const struct prof_stats *stats)
{
    uint64_t lost = stats->ticks - own_ticks(stats);

    for (size_t i = 0; i < ROWS; i++)
        lost -= member_of(stats, rows[i].ticks);
    if ((int64_t)lost > 0)
        write_number(out, lost,
                     " ticks missing from these rows: the profiler lost their "
                     "samples\n");
    else
        write_number(out, -lost,
                     " more samples than ticks: the profiler counted them "
                     "twice\n");
}

/* Losses and other problems, a line each; nothing if there were none. */
static void write_troubles(struct prof_text *out,
                           const struct prof_stats *stats)
{
    if (prof_symbols_error() != PROF_OK)
        prof_text_format(out, "no names: %s\n",
                         prof_strerror(prof_symbols_error()));
    write_difference(out, stats);
    if (stats->ticks != 0 && prof_clock.steady)
        prof_text_string(out, "the sampling period does not vary: code that "
                              "runs in step with it has a wrong share\n");
    write_number(out, stats->missed,
                 " ticks missed: due by the clock, never delivered\n");
    write_stolen(out, stats);
    write_number(out, stats->overflowed,
                 " samples in the overflow table: the vector was full\n");
    if (PROF_WITH_CALLERS)
        write_stopped(out, stats);
    if (PROF_WITH_CALLERS && PROF_WITH_BUILTIN)
        write_late(out, stats);
    write_number(out, stats->refusals, " allocations refused\n");
    if (!PROF_WITH_PIT)
        return;
    write_number(out, stats->tick.gate_taken_back,
                 " times the timer's IDT gate was restored\n");
    write_number(out, stats->tick.pit_taken_back,
                 " times the PIT was reset to the sampling rate\n");
    write_number(out, stats->tick.pit_given_up,
                 " times sampling stopped, because the kernel uses the PIT in "
                 "one-shot mode\n");
#if PROF_WITH_LAPIC
    write_number(out, stats->tick.lapic_taken_back,
                 " times the local APIC's timer was taken back\n");
#endif
#if PROF_WITH_NMI
    write_number(out, stats->tick.nmi_taken_back,
                 " times the PIT was made an NMI again\n");
    write_number(out, stats->tick.nmi_again,
                 " times no NMI came for a second: the PIT is programmed at "
                 "each one since\n");
    write_number(out, stats->tick.nmi_slowed,
                 " times the rate was halved: a sample took longer than a "
                 "period\n");
    write_number(out, stats->tick.nmi_duplicates,
                 " NMIs ignored: right after a sample\n");
#endif
}

#if PROF_CPUS_MAX > 1
static void write_cpu_share(struct prof_text *out, uint64_t cycles,
                            uint64_t whole)
{
    prof_text_string(out, "  ");
    prof_text_format(out, "%4.2u %%", prof_share_of(cycles, whole));
}

/* A CPU that has been sampled, with shares of its own time. */
static void write_cpu(struct prof_text *out, uint32_t number,
                      const struct prof_cpu_stats *cpu)
{
    uint64_t whole = cpu->busy_cycles + cpu->idle_cycles + cpu->stolen_cycles;

    prof_text_format(out, "%7u%12ju", number, cpu->ticks);
    write_cpu_share(out, cpu->busy_cycles, whole);
    write_cpu_share(out, cpu->idle_cycles, whole);
    write_cpu_share(out, cpu->stolen_cycles, whole);
    prof_text_format(out, "%10ju%10ju", cpu->missed, cpu->dropped);
    if (number == 0)
        prof_text_string(out, "    0\n");
    else if (cpu->tsc_error == PROF_CPU_TSC_UNKNOWN)
        prof_text_string(out, "    unknown\n");
    else
        prof_text_format(out, "    %s%ju +- %u\n",
                         cpu->tsc_offset < 0 ? "-" : "",
                         (uint64_t)(cpu->tsc_offset < 0 ? -cpu->tsc_offset
                                                        : cpu->tsc_offset),
                         cpu->tsc_error);
}

/* A row for each CPU, where there are several: their ticks add up to all, which
 * is why they are of the moment when these were read. */
static void write_cpus(struct prof_text *out)
{
    struct prof_cpu_stats cpu;
    uint32_t i;

    for (i = 1; prof_stats_of_cpu(i, &cpu); i++)
        if (cpu.joined || cpu.ticks != 0)
            break;
    if (!prof_stats_of_cpu(i, &cpu))
        return;
    prof_text_string(out, "    CPU     samples       busy       idle     stolen"
                          "    missed   dropped    TSC to CPU 0's, cycles\n");
    for (i = 0; prof_stats_of_cpu(i, &cpu); i++)
        if (cpu.joined || cpu.ticks != 0)
            write_cpu(out, i, &cpu);
}
#endif

void prof_summary_close(struct prof_text *out, const struct prof_stats *stats)
{
    if (stats->ticks != 0) {
        prof_text_string(out, "   -----\n");
        write_ticks(out, stats);
        write_cost(out, stats);
#if PROF_CPUS_MAX > 1
        write_cpus(out);
#endif
    }
    write_troubles(out, stats);
    prof_text_string(out, "---\n");
}
