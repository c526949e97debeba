/* SPDX-License-Identifier: Apache-2.0 */

/* The table of sites, and the account below it. */

#include "loop/long_runs.h"
#include "loop/loop.h"
#include "loop/read.h"

#include "base/cpu.h"

#include <prof/name.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/symbols.h>
#include <prof/text.h>

#define SHARE_WHOLE 10000u /* shares in hundredths of a per cent */

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

static uint64_t key_of(const struct prof_loop_site *site)
{
    switch (prof_options()->loop_by) {
    case PROF_LOOP_BY_TOTAL:
        return site->total_sum;
    case PROF_LOOP_BY_LONGEST:
        return prof_held_longest_of(site).cycles;
    case PROF_LOOP_BY_OWN:
        break;
    }
    return site->own_sum;
}

static bool is_listed(const struct prof_loop_site *site)
{
    return site->kind != PROF_LOOP_IDLE && site->kind != PROF_LOOP_LOOP &&
           (site->own_sum != 0 || site->calls != 0);
}

/* Both lists in one; of two alike, that of (first) comes first. */
static struct prof_loop_site *merge(struct prof_loop_site *first,
                                    struct prof_loop_site *second)
{
    struct prof_loop_site *merged = NULL, **end = &merged;

    while (first != NULL && second != NULL) {
        struct prof_loop_site **from =
            second->key > first->key ? &second : &first;

        *end = *from;
        *from = (*from)->after;
        end = &(*end)->after;
    }
    *end = first != NULL ? first : second;
    return merged;
}

/* The sites of the table in its order: a merge sort of a list, since there may
 * be very many. lists[i] has 2^i of them or none. */
static struct prof_loop_site *sorted(void)
{
    struct prof_loop_site *lists[32] = {NULL}, *all = NULL;

    for (uint32_t i = 0; i < prof_loop_sites.site_count; i++) {
        struct prof_loop_site *list = &prof_loop_sites.sites[i];
        uint32_t at = 0;

        if (!is_listed(list))
            continue;
        list->key = key_of(list);
        list->after = NULL;
        for (; lists[at] != NULL; at++) {
            list = merge(lists[at], list);
            lists[at] = NULL;
        }
        lists[at] = list;
    }
    for (uint32_t i = 0; i < 32; i++)
        all = merge(lists[i], all);
    return all;
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
    const struct prof_loop_site *site = sorted();

    for (uint32_t i = 0; i < rows && site != NULL; i++, site = site->after) {
        struct prof_loop_row row;

        if (i == 0)
            prof_text_string(out, head);
        prof_loop_row(prof_loop_site_number(site), &row);
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
