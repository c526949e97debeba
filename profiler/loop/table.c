/* SPDX-License-Identifier: Apache-2.0 */

/* The table of sites, and the account below it. */

#include "loop/loop.h"
#include "sample/cpus.h"

#include <prof/name.h>
#include <prof/port.h>
#include <prof/symbols.h>
#include <prof/text.h>

#define ANSWER_PART 50u    /* of a second, that others have to answer */
#define AGE_PART 20u       /* older than such a part: said */
#define SHARE_WHOLE 10000u /* shares in hundredths of a per cent */

/* (part) of (whole), in hundredths of a per cent. */
static uint32_t share_of(uint64_t part, uint64_t whole)
{
    while (whole > UINT32_MAX) {
        whole >>= 1;
        part >>= 1;
    }
    return whole == 0 ? 0
                      : (uint32_t)prof_divide(part * SHARE_WHOLE + whole / 2,
                                              (uint32_t)whole);
}

static uint64_t nanoseconds(uint64_t cycles)
{
    uint32_t khz = (uint32_t)prof_divide(prof_loop_cpu_here()->tsc_hz, 1000);
    uint64_t ms;

    if (khz == 0)
        return cycles;
    ms = prof_divide(cycles, khz);
    return ms * 1000000 + prof_divide((cycles - ms * khz) * 1000000, khz);
}

void prof_loop_write_time(struct prof_text *out, uint64_t cycles)
{
    static const struct {
        const char *unit;
        uint32_t ns;
    } units[] = {{" us", 1000}, {" ms", 1000000}, {" s ", 1000000000}};
    uint64_t ns = nanoseconds(cycles);
    uint32_t i = 0;

    while (i < 2 && ns >= (uint64_t)units[i].ns * 1000)
        i++;
    prof_text_fixed(out, prof_divide(ns, units[i].ns / 10), 3, 10);
    prof_text_string(out, units[i].unit);
}

static void write_column(struct prof_text *out, uint64_t cycles)
{
    prof_loop_write_time(out, cycles);
    prof_text_char(out, ' ');
}

static uint64_t mean_of(const struct prof_loop_sum *sum)
{
    uint64_t cycles = sum->cycles, count = sum->count;

    for (; count > UINT32_MAX; count >>= 1)
        cycles >>= 1;
    return count == 0 ? 0 : prof_divide(cycles, (uint32_t)count);
}

/* ---- rows */

/* What a table lists: sites that run, calls of their tasks, or of futures. */
enum list { LIST_RUNS, LIST_CALLS, LIST_FUTURES };

static uint64_t key_of(const struct prof_loop_site *site, enum prof_loop_by by)
{
    if (site->row.kind == PROF_LOOP_FUTURES)
        return site->row.sums[PROF_LOOP_WALL].cycles;
    switch (by) {
    case PROF_LOOP_BY_TOTAL:
        return site->row.total_cycles;
    case PROF_LOOP_BY_LONGEST:
        return prof_loop_longest(site);
    default:
        return site->row.self_cycles;
    }
}

static bool is_listed(const struct prof_loop_site *site, enum list list)
{
    const struct prof_loop_row *row = &site->row;

    if (list == LIST_CALLS)
        return prof_histograms_count(&site->histograms, PROF_LOOP_SELF) != 0;
    return (list == LIST_FUTURES) == (row->kind == PROF_LOOP_FUTURES) &&
           row->kind != PROF_LOOP_IDLE && row->kind != PROF_LOOP_LOOP &&
           (row->self_cycles != 0 || row->calls != 0);
}

/* Both lists in one; of two alike, that of (first) comes first. */
static struct prof_loop_site *merge_lists(struct prof_loop_site *first,
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
static struct prof_loop_site *sort_sites(enum prof_loop_by by, enum list which)
{
    struct prof_loop_site *lists[32] = {NULL}, *all = NULL;

    for (uint32_t i = 0; i < prof_loop_sites_read()->site_count; i++) {
        struct prof_loop_site *list = &prof_loop_sites_read()->sites[i];
        uint32_t at = 0;

        if (!is_listed(list, which))
            continue;
        list->key = key_of(list, by);
        list->after = NULL;
        for (; lists[at] != NULL; at++) {
            list = merge_lists(lists[at], list);
            lists[at] = NULL;
        }
        lists[at] = list;
    }
    for (uint32_t i = 0; i < 32; i++)
        all = merge_lists(lists[i], all);
    return all;
}

void prof_loop_write_site(struct prof_text *out,
                          const struct prof_loop_site *site)
{
    const struct prof_trace_name *name = site->row.site;

    prof_text_string(out, name->text);
    if (name->file != NULL)
        prof_text_format(out, " (%s:%u)", name->file, name->line);
}

static void write_failed(struct prof_text *out, const struct prof_loop_row *row)
{
    if (row->failed != 0)
        prof_text_format(out, ", failed %ju", row->failed);
    if (row->cancelled != 0)
        prof_text_format(out, ", cancelled %ju", row->cancelled);
    prof_text_char(out, '\n');
}

__attribute__((noinline)) static void
write_row(struct prof_text *out, const struct prof_loop_site *site,
          uint64_t wall)
{
    struct prof_loop_row row;

    prof_loop_read_row(site, prof_loop_tsc(), &row);
    prof_text_format(
        out, "%4.2u %%%4.2u %%%10ju ", share_of(row.self_cycles, wall),
        share_of(row.total_cycles, wall), row.sums[PROF_LOOP_RUN].count);
    write_column(out, prof_loop_quantile(row.number, PROF_LOOP_RUN, 990));
    write_column(out, row.longest_cycles);
    prof_loop_write_time(out,
                         prof_loop_quantile(row.number, PROF_LOOP_DELAY, 990));
    prof_text_format(out, "%9ju%8u ", row.calls, row.pending);
    write_column(out, row.oldest_cycles);
    prof_loop_write_site(out, site);
    write_failed(out, &row);
}

static void write_rows(struct prof_text *out, uint32_t rows,
                       enum prof_loop_by by, uint64_t wall)
{
    const struct prof_loop_site *site = sort_sites(by, LIST_RUNS);

    if (rows != 0 && site != NULL)
        prof_text_string(out,
                         "   self    total      runs 99% below  longest 99% "
                         "delay     calls pending  oldest  site\n");
    for (; rows != 0 && site != NULL; rows--, site = site->after)
        write_row(out, site, wall);
}

/* ---- calls */

__attribute__((noinline)) static void
write_call(struct prof_text *out, const struct prof_loop_site *site)
{
    static const uint16_t permilles[] = {500, 900, 990};
    enum prof_loop_measure measure;
    const struct prof_loop_sum *sum;
    struct prof_loop_row row;

    prof_loop_read_row(site, prof_loop_tsc(), &row);
    measure = prof_loop_call_measure(&row);
    sum = &row.sums[measure];
    prof_text_format(out, "%10ju ", sum->count);
    write_column(out, mean_of(sum));
    for (uint32_t i = 0; i < 3; i++)
        write_column(out,
                     prof_loop_quantile(row.number, measure, permilles[i]));
    write_column(out, row.call_longest_cycles);
    prof_text_format(out, "%10u %7u ", row.call_longest_object, row.pending);
    write_column(out, row.oldest_cycles);
    prof_loop_write_site(out, site);
    write_failed(out, &row);
}

static void write_calls(struct prof_text *out, uint32_t rows,
                        enum prof_loop_by by, enum list list)
{
    const struct prof_loop_site *site = sort_sites(by, list);

    if (rows == 0 || site == NULL)
        return;
    prof_text_string(out, list == LIST_CALLS
                              ? "loop: self time of calls, from creation to "
                                "end of a task\n"
                              : "loop: futures, from pending to done\n");
    prof_text_string(out, "     ended     mean      50%      90%      99%  "
                          "longest     of task pending  oldest  site\n");
    for (; rows != 0 && site != NULL; rows--, site = site->after)
        write_call(out, site);
}

/* ---- the account */

/* What the wall time consists of. */
static const struct {
    const char *name;
    uint8_t at; /* of its cycles in the account */
    bool always;
} parts[] = {
    {" = tasks", offsetof(struct prof_loop_account, tasks_cycles), true},
    {", callbacks", offsetof(struct prof_loop_account, callbacks_cycles), true},
    {", other sites", offsetof(struct prof_loop_account, others_cycles), false},
    {", loop", offsetof(struct prof_loop_account, loop_cycles), true},
    {", profiler", offsetof(struct prof_loop_account, profiler_cycles), true},
    {", interrupts", offsetof(struct prof_loop_account, interrupts_cycles),
     true},
    {", idle", offsetof(struct prof_loop_account, idle_cycles), true},
    {", stolen", offsetof(struct prof_loop_account, stolen_cycles), false},
};

static void write_account(struct prof_text *out,
                          const struct prof_loop_account *account)
{
    uint64_t wall = account->wall_cycles, missing = wall;

    prof_text_string(out, "loop: ");
    prof_loop_write_time(out, wall);
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint64_t cycles =
            *(const uint64_t *)((const char *)account + parts[i].at);

        missing -= cycles;
        if (parts[i].always || cycles != 0)
            prof_text_format(out, "%s %.2u %%", parts[i].name,
                             share_of(cycles, wall));
    }
    prof_text_format(out, "; missing %s%ju cycles\n",
                     (int64_t)missing < 0 ? "-" : "",
                     (int64_t)missing < 0 ? -missing : missing);
    prof_text_format(out, "loop: profiling overhead %.2u %%",
                     share_of(account->own_cycles, wall));
    if (account->stolen_inside_cycles != 0)
        prof_text_format(out, ", stolen as well %.2u %%",
                         share_of(account->stolen_inside_cycles, wall));
    if (account->freezes != 0)
        prof_text_format(out, "; held for too long %u times", account->freezes);
    prof_text_char(out, '\n');
}

static void write_refused(struct prof_text *out,
                          const struct prof_loop_account *account)
{
    if (account->sites_refused + account->contexts_refused +
            account->unbinned !=
        0)
        prof_text_format(out,
                         "loop: no room for %u sites, the parents of %ju "
                         "calls, %ju values in histograms: prof.loop_kb\n",
                         account->sites_refused, account->contexts_refused,
                         account->unbinned);
    if (account->calls_refused != 0)
        prof_text_format(out, "loop: no room for %ju calls: prof.loop_calls\n",
                         account->calls_refused);
}

#if PROF_CPUS_MAX > 1

/* From when the copy is, if that is not now. */
static void write_age(struct prof_text *out)
{
    const struct prof_loop_snapshot *copy = prof_loop_cpu_here()->viewed;
    uint64_t now = prof_tsc(), then;

    if (copy == NULL || !prof_cpu_has_joined(&prof_cpus[copy->number]))
        return; /* it may write its offset */
    then = copy->tsc + (uint64_t)prof_cpu_tsc_offset(&prof_cpus[copy->number]);
    if ((int64_t)(now - then) <
        (int64_t)prof_divide(prof_loop_cpu_here()->tsc_hz, AGE_PART))
        return;
    prof_text_char(out, ' ');
    prof_loop_write_time(out, now - then);
    prof_text_string(out, " ago");
}

static void write_title(struct prof_text *out)
{
    prof_text_string(out, "--- event loop");
    if (prof_cpu_count() > 1)
        prof_text_format(out, " of CPU %u", prof_loop_viewed());
    write_age(out);
    prof_text_string(out, ": busy");
}

#else

static void write_title(struct prof_text *out)
{
    prof_text_string(out, "--- event loop: busy");
}

#endif

static void write_head(struct prof_text *out,
                       const struct prof_loop_account *account)
{
    write_title(out);
    for (uint32_t i = 0; i < 3; i++)
        if (account->busy_seconds[i] != 0 &&
            (i == 0 ||
             account->busy_seconds[i] != account->busy_seconds[i - 1]))
            prof_text_format(out, " %.1u %% of %u s,",
                             account->busy_permille[i],
                             account->busy_seconds[i]);
    prof_text_format(out, " %.2u %% of all ---\n",
                     share_of(account->wall_cycles - account->idle_cycles -
                                  account->stolen_cycles,
                              account->wall_cycles));
}

static void write_function(struct prof_text *out, uintptr_t address,
                           uint32_t width)
{
    struct prof_symbol symbol;

    if (prof_symbol_find(address, &symbol))
        prof_name_write(out, &symbol, width);
    else
        prof_text_hex(out, address, 8);
}

/* The longest runs: "X held the loop for 48 ms, 80 % of it in strcmp". */
static void write_long_runs(struct prof_text *out, uint32_t width)
{
    const struct prof_long_run *run;

    for (uint32_t i = 0; (run = prof_long_runs_listed(i)) != NULL; i++) {
        prof_text_string(out, "loop: ");
        prof_loop_write_site(out, run->site);
        prof_text_string(out, " held it for ");
        prof_loop_write_time(out, run->self_cycles);
        for (uint32_t f = 0; f < 3 && run->functions[f].samples != 0; f++) {
            prof_text_format(out, "%s%.1u %% in ", f == 0 ? ": " : ", ",
                             share_of(run->functions[f].samples, run->samples) /
                                 10);
            write_function(out, run->functions[f].function, width);
        }
        prof_text_char(out, '\n');
    }
}

static void write_table(struct prof_text *out, uint32_t rows,
                        enum prof_loop_by by, uint32_t width)
{
    struct prof_loop_account account;

    prof_loop_account(&account);
    account.profiler_cycles += account.sampler_cycles; /* one part here */
    write_head(out, &account);
    write_rows(out, rows, by, account.wall_cycles);
    if (prof_loop_calls_on != 0) {
        write_calls(out, rows, by, LIST_CALLS);
        write_calls(out, rows, by, LIST_FUTURES);
    }
    write_long_runs(out, width);
    write_account(out, &account);
    write_refused(out, &account);
}

#if PROF_CPUS_MAX > 1

/* Those that have joined and have memory; what there is of them. */
static void write_others(struct prof_text *out, uint32_t rows,
                         enum prof_loop_by by, uint32_t width)
{
    uint32_t without = prof_loop_without_memory();

    for (uint32_t i = 1; i < prof_cpu_count(); i++)
        prof_loop_ask(i);
    prof_loop_wait(1, prof_cpu_count() - 1, ANSWER_PART);
    for (uint32_t i = 1; i < prof_cpu_count(); i++) {
        if (prof_loop_view(i))
            write_table(out, rows, by, width);
        else if (prof_loop_may_count(i))
            prof_text_format(out, "loop: nothing from CPU %u yet\n", i);
    }
    (void)prof_loop_view(0);
    if (without != 0)
        prof_text_format(out,
                         "loop: no memory to count on %u other CPUs: "
                         "prof.loop_kb\n",
                         without);
}

#endif

void prof_loop_write_table(uint32_t rows, enum prof_loop_by by, uint32_t width)
{
    struct prof_loop_frame frame;
    struct prof_text out;

    if (prof_loop_on == 0 || !prof_loop_is_first())
        return;
    prof_loop_profiler(&frame);
    prof_text_open(&out, prof_port_write);
    write_table(&out, rows, by, width);
#if PROF_CPUS_MAX > 1
    write_others(&out, rows, by, width);
#endif
    prof_text_flush(&out);
    prof_loop_leave(&frame);
}
