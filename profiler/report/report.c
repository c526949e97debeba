/* SPDX-License-Identifier: Apache-2.0 */

/* prof_report() and the table of functions. */

#include "report/report.h"

#include "base/busy.h"
#include "base/cpu.h"
#include "base/options.h"
#include "loop/loop.h"
#include "aggregate/amount.h"
#include "aggregate/calls.h"
#include "aggregate/drain.h"
#include "aggregate/functions.h"
#include "aggregate/hottest.h"
#include "aggregate/stats.h"
#include "aggregate/sums.h"
#include "aggregate/user.h"
#include "report/share.h"

#include <prof/config.h>
#include <prof/loop_stats.h>
#include <prof/name.h>
#include <prof/port.h>
#include <prof/symbols.h>
#include <prof/text.h>

/* Below this many samples the 95 % interval of a share, which is about
 * +- 1.96 / sqrt(samples) of it, is wider than half of the share itself. */
#define SAMPLES_MIN 16

#define ADDRESS_DIGITS 8 /* at least; more for images above 4 GiB */

void prof_report_name(struct prof_text *out, uintptr_t address)
{
    struct prof_symbol symbol;

    if (prof_symbol_find(address, &symbol))
        prof_name_write(out, &symbol, PROF_OPTION(width));
    else if (prof_is_user(address))
        prof_user_write(out, address);
    else
        prof_text_hex(out, address, ADDRESS_DIGITS);
}

/* The offset of this format is always 0, because rows are functions. */
static void put_classic_row(struct prof_text *out,
                            const struct prof_function *function)
{
    prof_text_char(out, '[');
    prof_text_hex(out, function->record.key, 0);
    prof_text_format(out, " + 000] %ju times: ", function->self.samples);
    prof_report_name(out, function->record.key);
    prof_text_char(out, '\n');
}

/* prof.form=classic: addresses and counts only, without shares. */
static void put_classic_table(struct prof_text *out,
                              const struct prof_stats *stats)
{
    uint32_t rows = PROF_OPTION(top);
    struct prof_hottest hottest;
    const struct prof_function *function;

    if (rows > stats->functions)
        rows = stats->functions;
    prof_hottest_begin(&hottest, rows);
    prof_text_format(out, "*** Listing %u samples ***\n", rows);
    while ((function = prof_hottest_next(&hottest)) != NULL)
        put_classic_row(out, function);
    prof_text_string(out, "*** ---------------------- ***\n");
}

/* State of the table while its rows are written. */
struct table {
    struct prof_share_sum share; /* sum of the "self" column so far */
    bool vm_exit;                /* there is a column "in VMM" */
    bool few, masked;            /* some row has this mark */
    uint64_t samples;            /* that the shares rest on */
};

/*
 * Shares in the column "self" are rounded so that they add up, and may be off
 * by 0.01 %; those in the other columns are rounded independently. Without
 * correction a row could show self > total, or in VMM, a part of self, > self.
 */
static void put_other(struct prof_text *out, uint64_t part, bool most,
                      uint32_t self, const struct table *table)
{
    uint32_t share = prof_share_of(part, table->share.whole);

    prof_summary_share(out, (share < self) == most ? share : self);
}

static void put_interval(struct prof_text *out, uint32_t self, uint32_t hits,
                         const struct table *table)
{
    struct prof_share_interval ends =
        prof_share_interval(self, hits, table->samples);

    prof_text_format(out, "  (%.2u to %.2u %%)", ends.low, ends.high);
}

/* One row: self, total (with callers), in VMM (if any), samples, marks, address
 * and name. */
static void put_share_row(struct prof_text *out,
                          const struct prof_function *function,
                          struct table *table)
{
    uint32_t self =
        prof_share_next(&table->share, prof_sums_weight(&function->self));
    bool few = function->self.samples < SAMPLES_MIN;

    prof_summary_share(out, self);
    if (PROF_WITH_CALLERS && prof_drain_depth() != 0)
        put_other(out, function->total, false, self, table);
    if (PROF_WITH_CLASSES && table->vm_exit)
        put_other(out, function->vm_exit, true, self, table);
    prof_text_decimal(out, function->self.samples, 10);
    prof_text_string(out, few ? " ?" : "  ");
    prof_text_string(out, PROF_WITH_CLASSES && function->masked ? "! " : "  ");
    table->few = table->few || few;
    table->masked = table->masked || function->masked;
    prof_text_hex(out, function->record.key, ADDRESS_DIGITS);
    prof_text_string(out, "  ");
    prof_report_name(out, function->record.key);
    if (few)
        put_interval(out, self, (uint32_t)function->self.samples, table);
    prof_text_char(out, '\n');
}

static void put_rest_row(struct prof_text *out, uint32_t functions,
                         uint64_t samples, uint64_t weight, struct table *table)
{
    prof_summary_share(out, prof_share_next(&table->share, weight));
    if (PROF_WITH_CALLERS && prof_drain_depth() != 0)
        prof_text_string(out, "          ");
    if (PROF_WITH_CLASSES && table->vm_exit)
        prof_text_string(out, "         ");
    prof_text_format(out, "%10ju    in %u more function%s\n", samples,
                     functions, functions == 1 ? "" : "s");
}

/* Explains the marks and the column, if the table has them. */
static void put_legend(struct prof_text *out, const struct table *table)
{
    if (table->few)
        prof_text_string(out, "? fewer than 16 samples; in brackets the 95 % "
                              "interval of the share\n");
    if (PROF_WITH_CLASSES && table->masked)
        prof_text_string(out, "! interrupts were off before this point; "
                              "blame the code above it\n");
    if (PROF_WITH_CLASSES && table->vm_exit)
        prof_text_string(out, "in VMM: samples at instructions that leave the "
                              "guest, such as port access\n");
}

/* prof.form=shares: the table with shares, the rest row and the accounts. */
static void put_share_table(struct prof_text *out,
                            const struct prof_stats *stats)
{
    bool time = PROF_OPTION(weight) == PROF_WEIGHT_TIME;
    uint64_t samples = stats->attributed + stats->masked + stats->unresolved +
                       (PROF_WITH_USER ? stats->user : 0);
    uint64_t cycles = stats->attributed_cycles + stats->masked_cycles +
                      stats->unresolved_cycles +
                      (PROF_WITH_USER ? stats->user_cycles : 0);
    uint64_t known = time ? cycles : samples;
    uint32_t functions = stats->functions;
    struct prof_hottest hottest;
    struct table table = {.vm_exit = stats->exits != 0};
    const struct prof_function *function;

    table.share.whole = prof_summary_whole(stats);
    table.samples =
        stats->ticks - (PROF_HAS_CALLS ? stats->own : 0) - stats->queued;
    prof_summary_head(out, stats);
    prof_hottest_begin(&hottest, PROF_OPTION(top));
    while ((function = prof_hottest_next(&hottest)) != NULL) {
        put_share_row(out, function, &table);
        known -= prof_sums_weight(&function->self);
        samples -= function->self.samples;
        functions--;
    }
    if (functions > 0)
        put_rest_row(out, functions, samples, known, &table);
    put_legend(out, &table);
    prof_summary_close(out, stats);
}

/* Time that was stolen meanwhile must be known before the loop's statistics are
 * read: it takes long to print a profile. */
static void report_loop(void)
{
    struct prof_stats stats;
    struct prof_text out;
    uint64_t begin;

    if (!prof_loop_is_on())
        return;
    prof_drain_whole();
    begin = prof_tsc();
    prof_stats(&stats);
    prof_text_open(&out, prof_port_write);
    prof_report_under_sampled(&out, &stats);
    prof_text_flush(&out);
    prof_loop_write_table(PROF_OPTION(loop_rows), PROF_OPTION(loop_by),
                          PROF_OPTION(width));
    prof_report_cycles += prof_tsc() - begin;
}

void prof_report(void)
{
    struct prof_text out;
    struct prof_stats stats;
    struct prof_loop_frame frame;
    uint64_t begin;

    if (!prof_drain_is_open())
        return;
    prof_enter();
    prof_drain_whole();
    prof_loop_profiler(&frame);
    begin = prof_tsc();
    prof_stats(&stats);
    prof_text_open(&out, prof_port_write);
    if (PROF_WITH_TREES && PROF_OPTION(report) == PROF_REPORT_TREE)
        prof_report_call_tree(&out, &stats);
    else if (PROF_WITH_TREES && PROF_OPTION(report) == PROF_REPORT_FOLDED)
        prof_report_folded(&out, &stats);
    else if (PROF_WITH_OPTIONS && PROF_OPTION(form) == PROF_FORM_CLASSIC)
        put_classic_table(&out, &stats);
    else
        put_share_table(&out, &stats);
    if (PROF_WITH_TREES && PROF_OPTION(callers)[0] != '\0')
        prof_report_callers(&out, PROF_OPTION(callers), &stats);
    prof_text_flush(&out);
    prof_report_cycles += prof_tsc() - begin;
    report_loop();
    prof_loop_leave(&frame);
    prof_leave();
}
