/* SPDX-License-Identifier: Apache-2.0 */

/* The table on the serial line. */

#include "report.h"

#include "accounts.h"
#include "cpu.h"
#include "drain.h"
#include "hottest.h"
#include "place.h"
#include "share.h"
#include "site.h"
#include "stacks.h"
#include "state.h"

#include <prof/name.h>
#include <prof/port.h>
#include <prof/symbols.h>
#include <prof/text.h>

/* Below this many samples the 95 % interval of a share, which is about
 * +- 1.96 / sqrt(samples) of it, is wider than half of the share itself. */
#define SAMPLES_MIN 16

#define ADDRESS_DIGITS 8 /* most images lie below 4 GiB; others are wider */

void prof_report_name(struct prof_text *out, uintptr_t key)
{
    struct prof_symbol symbol;

    if (prof_symbol_find(key, &symbol))
        prof_name_write(out, &symbol, prof_options()->width);
    else
        prof_text_hex(out, key, ADDRESS_DIGITS);
}

static void classic_row(struct prof_text *out, const struct prof_cell *cell)
{
    prof_text_char(out, '[');
    prof_text_hex(out, cell->key, 0);
    prof_text_string(out, " + 000] ");
    prof_text_decimal(out, cell->count, 0);
    prof_text_string(out, " times: ");
    prof_report_name(out, cell->key);
    prof_text_char(out, '\n');
}

static void classic(struct prof_text *out)
{
    uint32_t rows = prof_options()->top;
    struct prof_hottest hottest;
    const struct prof_cell *cell;

    if (rows > prof_state.functions.used)
        rows = prof_state.functions.used;
    prof_hottest_begin(&hottest, rows);
    prof_text_string(out, "*** Listing ");
    prof_text_decimal(out, rows, 0);
    prof_text_string(out, " samples ***\n");
    while ((cell = prof_hottest_next(&hottest)) != NULL)
        classic_row(out, cell);
    prof_text_string(out, "*** ---------------------- ***\n");
}

/* The table in the making. */
struct table {
    struct prof_share_sum share; /* whole: what all shares are parts of */
    bool exits;                  /* with a column for the hypervisor's */
    bool few, masked;            /* rows have been marked so */
};

static void exits_column(struct prof_text *out, const struct table *table,
                         const struct prof_site_sum *sites)
{
    bool time = prof_options()->weight == PROF_WEIGHT_TIME;

    if (table->exits)
        prof_accounts_share(
            out, prof_share_of(time ? sites->exits_cycles : sites->exits,
                               table->share.whole));
}

static void share_row(struct prof_text *out, const struct prof_cell *cell,
                      struct table *table)
{
    uint64_t total = prof_stacks_total(cell->key);
    struct prof_site_sum sites = prof_site_sum(cell);
    bool few = cell->count < SAMPLES_MIN;

    prof_accounts_share(
        out, prof_share_next(&table->share, prof_hottest_weight(cell)));
    if (prof_hot.depth != 0)
        prof_accounts_share(out, prof_share_of(total, table->share.whole));
    exits_column(out, table, &sites);
    prof_text_decimal(out, cell->count, 10);
    prof_text_string(out, few ? " ?" : "  ");
    prof_text_string(out, sites.opens != 0 ? "! " : "  ");
    table->few = table->few || few;
    table->masked = table->masked || sites.opens != 0;
    prof_text_hex(out, cell->key, ADDRESS_DIGITS);
    prof_text_string(out, "  ");
    prof_report_name(out, cell->key);
    prof_text_char(out, '\n');
}

/* The row that stands for all functions that have none of their own. */
static void rest_row(struct prof_text *out, uint32_t functions,
                     uint64_t samples, uint64_t weight, struct table *table)
{
    prof_accounts_share(out, prof_share_next(&table->share, weight));
    if (prof_hot.depth != 0)
        prof_text_string(out, "          ");
    if (table->exits)
        prof_text_string(out, "         ");
    prof_text_decimal(out, samples, 10);
    prof_text_string(out, "    ");
    prof_text_string(out, functions == 1 ? "in 1 more function\n" : "in ");
    if (functions == 1)
        return;
    prof_text_decimal(out, functions, 0);
    prof_text_string(out, " more functions\n");
}

/* What the marks and the column mean, where there are any. */
static void legend(struct prof_text *out, const struct table *table)
{
    if (table->few)
        prof_text_string(out, "? fewer than 16 samples: the share may well be "
                              "half as much again, or half\n");
    if (table->masked)
        prof_text_string(out, "! samples gather where interrupts are turned on "
                              "again; they belong to code before\n");
    if (table->exits)
        prof_text_string(out, "in VMM: at instructions that leave the guest, "
                              "such as port access\n");
}

static void shares(struct prof_text *out, const struct prof_stats *stats)
{
    bool time = prof_options()->weight == PROF_WEIGHT_TIME;
    uint64_t samples = stats->attributed + stats->masked + stats->unresolved;
    uint64_t cycles = stats->attributed_cycles + stats->masked_cycles +
                      stats->unresolved_cycles;
    uint64_t known = time ? cycles : samples;
    uint32_t functions = prof_state.functions.used;
    struct prof_hottest hottest;
    struct table table = {.exits = stats->exits != 0};
    const struct prof_cell *cell;

    table.share.whole = time ? stats->elapsed_cycles : stats->ticks;
    prof_accounts_head(out, stats);
    prof_hottest_begin(&hottest, prof_options()->top);
    while ((cell = prof_hottest_next(&hottest)) != NULL) {
        share_row(out, cell, &table);
        known -= prof_hottest_weight(cell);
        samples -= cell->count;
        functions--;
    }
    if (functions > 0)
        rest_row(out, functions, samples, known, &table);
    legend(out, &table);
    prof_accounts_close(out, stats);
}

void prof_report(void)
{
    struct prof_text out;
    struct prof_stats stats;
    uint64_t begin;

    if (!prof_state.ready)
        return;
    prof_drain();
    begin = prof_tsc();
    prof_stats(&stats);
    prof_text_open(&out, prof_port_write);
    prof_place_settle();
    prof_stacks_sum();
    if (prof_options()->report == PROF_REPORT_TREE)
        prof_calls_tree(&out, &stats);
    else if (prof_options()->report == PROF_REPORT_FOLDED)
        prof_calls_folded(&out);
    else if (prof_options()->form == PROF_FORM_CLASSIC)
        classic(&out);
    else
        shares(&out, &stats);
    if (prof_options()->callers[0] != '\0')
        prof_calls_callers(&out, prof_options()->callers, &stats);
    prof_text_flush(&out);
    prof_state.report_cycles += prof_tsc() - begin;
}
