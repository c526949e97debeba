/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The table on the serial line.
 *
 * The hottest functions are found some at a time, each time the next below the
 * last one, by walking over the map again: no memory is needed for a sorted
 * copy, and the order is total (weight, then samples, then address).
 */

#include "report.h"

#include "accounts.h"
#include "cpu.h"
#include "drain.h"
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

static uint64_t weight_of(const struct prof_cell *cell)
{
    return prof_options()->weight == PROF_WEIGHT_TIME ? cell->cycles
                                                      : cell->count;
}

/* Whether (a) comes before (b) in the table. */
static bool hotter(const struct prof_cell *a, const struct prof_cell *b)
{
    if (weight_of(a) != weight_of(b))
        return weight_of(a) > weight_of(b);
    if (a->count != b->count)
        return a->count > b->count;
    return a->key < b->key;
}

/* Found in one walk: so many rows of a table cost no more than one. */
#define FOUND_MAX 32u

/* The functions in their order, from the hottest down. */
struct hottest {
    const struct prof_cell *found[FOUND_MAX]; /* the next ones */
    uint32_t count;                           /* of them */
    uint32_t at;                              /* the next to be taken */
    uint32_t wanted;                          /* to be taken at most */
};

/* Puts (cell) where it belongs among the (most) hottest, if it does. */
static void put(struct hottest *hottest, const struct prof_cell *cell,
                uint32_t most)
{
    uint32_t at = hottest->count;

    if (at == most && !hotter(cell, hottest->found[--at]))
        return;
    for (; at > 0 && hotter(cell, hottest->found[at - 1]); at--)
        hottest->found[at] = hottest->found[at - 1];
    hottest->found[at] = cell;
    hottest->count += hottest->count < most;
}

/* Finds the hottest of all that come after (above); NULL: of all. */
static void find_below(struct hottest *hottest, const struct prof_cell *above)
{
    const struct prof_map *map = &prof_state.functions;
    uint32_t most = hottest->wanted < FOUND_MAX ? hottest->wanted : FOUND_MAX;

    hottest->count = hottest->at = 0;
    for (uint32_t i = 0; most > 0 && i < map->capacity; i++) {
        const struct prof_cell *cell = &map->cells[i];

        if (cell->count != 0 && (above == NULL || hotter(above, cell)))
            put(hottest, cell, most);
    }
}

/* The next one; NULL where all are taken, or as many as were wanted. */
static const struct prof_cell *next_hottest(struct hottest *hottest)
{
    const struct prof_cell *last =
        hottest->at > 0 ? hottest->found[hottest->at - 1] : NULL;

    if (hottest->at == hottest->count)
        find_below(hottest, last);
    if (hottest->count == 0)
        return NULL;
    hottest->wanted--;
    return hottest->found[hottest->at++];
}

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
    struct hottest hottest = {.wanted = prof_options()->top};
    const struct prof_cell *cell;

    if (hottest.wanted > prof_state.functions.used)
        hottest.wanted = prof_state.functions.used;
    prof_text_string(out, "*** Listing ");
    prof_text_decimal(out, hottest.wanted, 0);
    prof_text_string(out, " samples ***\n");
    while ((cell = next_hottest(&hottest)) != NULL)
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

    prof_accounts_share(out, prof_share_next(&table->share, weight_of(cell)));
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
    struct hottest hottest = {.wanted = prof_options()->top};
    struct table table = {.exits = stats->exits != 0};
    const struct prof_cell *cell;

    table.share.whole = time ? stats->elapsed_cycles : stats->ticks;
    prof_accounts_head(out, stats);
    while ((cell = next_hottest(&hottest)) != NULL) {
        share_row(out, cell, &table);
        known -= weight_of(cell);
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
