/* SPDX-License-Identifier: Apache-2.0 */

/* The table of sites, and the account below it. */

#include "loop/held.h"
#include "loop/loop.h"
#include "loop/read.h"

#include "base/cpu.h"

#include <prof/name.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/symbols.h>
#include <prof/text.h>

#define SHARE_WHOLE 10000u /* shares in hundredths of a per cent */
#define LISTED_MAX 4096u   /* sites, of which a bit says: it is in the table */

/* ---- numbers */

/* (part) of (whole), in hundredths of a per cent. */
static uint32_t share(uint64_t part, uint64_t whole)
{
    while (whole > UINT32_MAX) {
        whole >>= 1;
        part >>= 1;
    }
    return whole == 0 ? 0
                      : (uint32_t)prof_divide(part * SHARE_WHOLE + whole / 2,
                                              (uint32_t)whole);
}

static void write_share(struct prof_text *out, uint64_t part, uint64_t whole)
{
    prof_text_fixed(out, share(part, whole), 4, 100);
    prof_text_string(out, " %");
}

/* ---- rows */

static uint64_t key_of(const struct prof_loop_row *row)
{
    switch (prof_options()->loop_by) {
    case PROF_LOOP_BY_TOTAL:
        return row->total_cycles;
    case PROF_LOOP_BY_LONGEST:
        return row->longest_cycles;
    case PROF_LOOP_BY_OWN:
        break;
    }
    return row->own_cycles;
}

/* The first in the order that is not (listed), which a bit says of each. False:
 * there is none. */
static bool find_next(const uint32_t *listed, struct prof_loop_row *best)
{
    uint32_t sites = prof_loop_sites.site_count;
    struct prof_loop_row row;
    bool found = false;

    *best = (struct prof_loop_row){0};
    for (uint32_t i = 0; i < sites && i < LISTED_MAX; i++) {
        if ((listed[i / 32] >> i % 32 & 1) != 0)
            continue;
        prof_loop_row(i, &row);
        if (row.kind == PROF_LOOP_IDLE || row.kind == PROF_LOOP_LOOP ||
            (row.own_cycles == 0 && row.calls == 0) ||
            (found && key_of(&row) <= key_of(best)))
            continue;
        found = true;
        *best = row;
    }
    return found;
}

static void write_name(struct prof_text *out,
                       const struct prof_trace_name *name)
{
    prof_text_string(out, name->text);
    if (name->file == NULL)
        return;
    prof_text_string(out, " (");
    prof_text_string(out, name->file);
    prof_text_char(out, ':');
    prof_text_decimal(out, name->line, 0);
    prof_text_char(out, ')');
}

static void write_row(struct prof_text *out, const struct prof_loop_row *row,
                      uint64_t wall)
{
    write_share(out, row->own_cycles, wall);
    write_share(out, row->total_cycles, wall);
    prof_text_decimal(out, row->sums[PROF_LOOP_RUN].count, 10);
    prof_text_char(out, ' ');
    prof_loop_write_time(out,
                         prof_loop_quantile(row->number, PROF_LOOP_RUN, 990));
    prof_text_char(out, ' ');
    prof_loop_write_time(out, row->longest_cycles);
    prof_text_char(out, ' ');
    prof_loop_write_time(out,
                         prof_loop_quantile(row->number, PROF_LOOP_DELAY, 990));
    prof_text_decimal(out, row->calls, 9);
    prof_text_decimal(out, row->pending, 8);
    prof_text_char(out, ' ');
    prof_loop_write_time(out, row->oldest_cycles);
    prof_text_char(out, ' ');
    write_name(out, row->site);
    if (row->failed != 0) {
        prof_text_string(out, ", failed ");
        prof_text_decimal(out, row->failed, 0);
    }
    if (row->cancelled != 0) {
        prof_text_string(out, ", cancelled ");
        prof_text_decimal(out, row->cancelled, 0);
    }
    prof_text_char(out, '\n');
}

static void write_rows(struct prof_text *out, uint32_t rows, uint64_t wall)
{
    static const char head[] =
        "    own    total      runs 99% below  longest 99% delay     calls "
        "pending  oldest  site\n";
    uint32_t listed[LISTED_MAX / 32] = {0};

    for (uint32_t i = 0; i < rows; i++) {
        struct prof_loop_row row;

        if (!find_next(listed, &row))
            return;
        if (i == 0)
            prof_text_string(out, head);
        listed[row.number / 32] |= 1u << row.number % 32;
        write_row(out, &row, wall);
    }
}

/* ---- the account */

static void write_part(struct prof_text *out, const char *name, uint64_t cycles,
                       uint64_t wall)
{
    prof_text_string(out, name);
    prof_text_fixed(out, share(cycles, wall), 0, 100);
    prof_text_string(out, " %");
}

static void write_account(struct prof_text *out,
                          const struct prof_loop_account *account)
{
    uint64_t wall = account->wall_cycles;
    uint64_t rest = wall - account->tasks_cycles - account->callbacks_cycles -
                    account->others_cycles - account->loop_cycles -
                    account->profiler_cycles - account->idle_cycles -
                    account->interrupts_cycles - account->sampler_cycles -
                    account->stolen_cycles;

    prof_text_string(out, "loop: ");
    prof_loop_write_time(out, wall);
    write_part(out, " = tasks ", account->tasks_cycles, wall);
    write_part(out, ", callbacks ", account->callbacks_cycles, wall);
    if (account->others_cycles != 0)
        write_part(out, ", other sites ", account->others_cycles, wall);
    write_part(out, ", loop ", account->loop_cycles, wall);
    write_part(out, ", profiler ",
               account->profiler_cycles + account->sampler_cycles, wall);
    write_part(out, ", interrupts ", account->interrupts_cycles, wall);
    write_part(out, ", idle ", account->idle_cycles, wall);
    if (account->stolen_cycles != 0)
        write_part(out, ", stolen ", account->stolen_cycles, wall);
    prof_text_string(out, "; missing ");
    if ((int64_t)rest < 0) {
        prof_text_char(out, '-');
        rest = -rest;
    }
    prof_text_decimal(out, rest, 0);
    prof_text_string(out, " cycles\n");
    write_part(out, "loop: of these: these statistics ", account->own_cycles,
               wall);
    if (account->stolen_inside_cycles != 0)
        write_part(out, ", stolen as well ", account->stolen_inside_cycles,
                   wall);
    if (account->freezes != 0) {
        prof_text_string(out, "; held for too long ");
        prof_text_decimal(out, account->freezes, 0);
        prof_text_string(out, " times");
    }
    prof_text_char(out, '\n');
}

/* What had no room. */
static void write_refused(struct prof_text *out,
                          const struct prof_loop_account *account)
{
    if (account->sites_refused + account->contexts_refused +
            account->unbinned ==
        0)
        return;
    prof_text_string(out, "loop: no room for ");
    prof_text_decimal(out, account->sites_refused, 0);
    prof_text_string(out, " sites, the parents of ");
    prof_text_decimal(out, account->contexts_refused, 0);
    prof_text_string(out, " calls, ");
    prof_text_decimal(out, account->unbinned, 0);
    prof_text_string(out, " values in histograms: prof.loop_kb\n");
}

static void write_head(struct prof_text *out,
                       const struct prof_loop_account *account)
{
    prof_text_string(out, "--- event loop: busy");
    for (uint32_t i = 0; i < 3; i++) {
        if (account->busy_seconds[i] == 0 ||
            (i > 0 && account->busy_seconds[i] == account->busy_seconds[i - 1]))
            continue;
        prof_text_char(out, ' ');
        prof_text_fixed(out, account->busy_permille[i], 0, 10);
        prof_text_string(out, " % of ");
        prof_text_decimal(out, account->busy_seconds[i], 0);
        prof_text_string(out, " s,");
    }
    prof_text_char(out, ' ');
    prof_text_fixed(out,
                    share(account->wall_cycles - account->idle_cycles -
                              account->stolen_cycles,
                          account->wall_cycles),
                    0, 100);
    prof_text_string(out, " % of all ---\n");
}

static void write_function(struct prof_text *out, uintptr_t address)
{
    struct prof_symbol symbol;

    if (prof_symbol_find(address, &symbol))
        prof_name_write(out, &symbol, prof_options()->width);
    else
        prof_text_hex(out, address, 8);
}

/* The longest runs: "X held the loop for 48 ms, 80 % of it in strcmp". */
static void write_held(struct prof_text *out)
{
    const struct prof_held_run *run;

    for (uint32_t i = 0; (run = prof_held_longest(i)) != NULL; i++) {
        prof_text_string(out, "loop: ");
        write_name(out, run->site->name);
        prof_text_string(out, " held it for ");
        prof_loop_write_time(out, run->own_cycles);
        for (uint32_t f = 0; f < 3 && run->functions[f].samples != 0; f++) {
            prof_text_string(out, f == 0 ? ": " : ", ");
            prof_text_fixed(out,
                            share(run->functions[f].samples, run->samples) / 10,
                            0, 10);
            prof_text_string(out, " % in ");
            write_function(out, run->functions[f].function);
        }
        prof_text_char(out, '\n');
    }
}

void prof_loop_report(uint32_t rows)
{
    struct prof_loop_account account;
    struct prof_loop_frame frame;
    struct prof_text out;

    if (prof_loop_on == 0)
        return;
    prof_loop_profiler(&frame);
    prof_loop_account(&account);
    prof_text_open(&out, prof_port_write);
    write_head(&out, &account);
    write_rows(&out, rows, account.wall_cycles);
    write_held(&out);
    write_account(&out, &account);
    write_refused(&out, &account);
    prof_text_flush(&out);
    prof_loop_leave(&frame);
}
