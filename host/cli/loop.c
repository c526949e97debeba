/* SPDX-License-Identifier: Apache-2.0 */
/* parasite loop: who held the event loop, as the guest counted it. */

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "occupancy/occupancy.h"
#include "profile/under_sampled.h"
#include "profile/view.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct loop_print {
    struct occupancy_cpus cpus; /* finished, with one at least */
    struct occupancy occupancy; /* of one of them, or their sum */
    uint32_t together;          /* of so many, 0 = of one */
    bool has_cpu;               /* only one is asked for: */
    uint16_t cpu;
    struct view view; /* the same trace, for stacks and symbols */
    enum occupancy_order order;
    unsigned long rows; /* of each table, 0 = all */
    bool tree;
    bool percentiles;
    bool has_histogram;
    enum occupancy_histogram histogram; /* one for each row */
    bool json;
} request = {.rows = 40, .view = {.input = "x.trace", .weight = MODEL_CLOCKS}};

static double loop_ms(const struct loop_print *print, uint64_t cycles)
{
    return (double)cycles * 1000.0 / (double)print->occupancy.tsc_hz;
}

/* The share of (cycles) in the time of the last snapshot, per cent. */
static double loop_percent(const struct loop_print *print, uint64_t cycles)
{
    uint64_t wall = print->occupancy.now.account.wall;

    return wall > 0 ? 100.0 * (double)cycles / (double)wall : 0;
}

static const char *const loop_histograms[OCCUPANCY_HISTOGRAMS] = {
    [OCCUPANCY_RUN] = "run",
    [OCCUPANCY_DELAY] = "delay",
    [OCCUPANCY_LIFE] = "wall",
    [OCCUPANCY_CALL] = "call",
};

/* The parts of the account: for people, and for programs. */
static const char *const loop_parts[OCCUPANCY_PARTS] = {
    [OCCUPANCY_TASKS] = "tasks",
    [OCCUPANCY_CALLBACKS] = "callbacks",
    [OCCUPANCY_OTHERS] = "sites without room",
    [OCCUPANCY_LOOP] = "the loop itself",
    [OCCUPANCY_PROFILER] = "the profiler's drain",
    [OCCUPANCY_IDLE] = "idle",
    [OCCUPANCY_INTERRUPTS] = "interrupts",
    [OCCUPANCY_SAMPLER] = "the sampler",
    [OCCUPANCY_STOLEN] = "stolen by the host",
    [OCCUPANCY_WALL] = "wall time",
};

static const char *const loop_part_keys[OCCUPANCY_PARTS] = {
    [OCCUPANCY_TASKS] = "tasks",           [OCCUPANCY_CALLBACKS] = "callbacks",
    [OCCUPANCY_OTHERS] = "others",         [OCCUPANCY_LOOP] = "loop",
    [OCCUPANCY_PROFILER] = "profiler",     [OCCUPANCY_IDLE] = "idle",
    [OCCUPANCY_INTERRUPTS] = "interrupts", [OCCUPANCY_SAMPLER] = "sampler",
    [OCCUPANCY_STOLEN] = "stolen",         [OCCUPANCY_WALL] = "wall",
};

/* Writes "name (file:12)". */
static void loop_print_site(const struct loop_print *print, uint32_t site)
{
    const struct occupancy *occupancy = &print->occupancy;
    const char *file = occupancy_file(occupancy, site);

    printable_put(stdout, occupancy_name(occupancy, site));
    if (*file == '\0')
        return;
    fputs(" (", stdout);
    printable_put(stdout, file);
    printf(":%u)", (unsigned)occupancy_line(occupancy, site));
}

/* Values of a site's histogram and their quantiles, in cycles. */
struct loop_quantiles {
    uint64_t count, p50, p90, p99;
};

static struct loop_quantiles quantiles_of(const struct occupancy_site *site,
                                          enum occupancy_histogram which)
{
    const struct event_loop_row *row = &site->row;
    const struct event_loop_call *call = &site->call;

    switch (which) {
    case OCCUPANCY_CALL:
        if (site->future)
            return (struct loop_quantiles){0};
        return (struct loop_quantiles){call->calls, call->p50, call->p90,
                                       call->p99};
    case OCCUPANCY_RUN:
        return (struct loop_quantiles){row->runs, row->run_p50, row->run_p90,
                                       row->run_p99};
    case OCCUPANCY_DELAY:
        return (struct loop_quantiles){row->delays, row->delay_p50,
                                       row->delay_p90, row->delay_p99};
    default:
        return (struct loop_quantiles){row->walls, row->wall_p50, row->wall_p90,
                                       row->wall_p99};
    }
}

/* ---- long runs, with what samples hit in them, and freezes */

static const struct occupancy_run *all_runs;

static int by_cycles(const void *left, const void *right)
{
    const struct occupancy_run *a = &all_runs[*(const uint32_t *)left];
    const struct occupancy_run *b = &all_runs[*(const uint32_t *)right];

    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    return (a > b) - (a < b);
}

/* The indices of the long runs, longest first; to be freed. */
static uint32_t *loop_longest_runs(const struct loop_print *print)
{
    uint32_t count = print->occupancy.run_count;
    uint32_t *runs = xreallocarray(NULL, count + 1u, sizeof *runs);

    for (uint32_t i = 0; i < count; ++i)
        runs[i] = i;
    all_runs = print->occupancy.runs;
    if (count > 0)
        qsort(runs, count, sizeof *runs, by_cycles);
    return runs;
}

static const char *loop_function(struct loop_print *print, uint64_t address)
{
    struct names *names = &print->view.names;
    size_t count;
    const struct frame *frame = names_at(names, address, false, &count);

    return names_text(names, frame[count - 1].function);
}

/* A freeze's (functions), at most OCCUPANCY_STACK, innermost first. */
static size_t loop_stack(struct loop_print *print,
                         const struct occupancy_freeze *freeze,
                         const char **functions)
{
    struct names *names = &print->view.names;
    size_t count = 0, here;

    for (; count < OCCUPANCY_STACK && freeze->stack[count] != 0; ++count) {
        const struct frame *frame =
            names_at(names, freeze->stack[count], count > 0, &here);

        functions[count] = names_text(names, frame[here - 1].function);
    }
    return count;
}

static double seconds(const struct loop_print *print, uint64_t clock)
{
    uint64_t begin = print->view.model.begin;

    return clock > begin ? (double)(clock - begin) / PROF_CLOCK_HZ : 0;
}

static void print_run(struct loop_print *print, const struct occupancy_run *run)
{
    printf("%11.3f %11.3f %8u  ", loop_ms(print, run->cycles),
           seconds(print, run->time), (unsigned)run->task);
    loop_print_site(print, run->site);
    for (unsigned i = 0;
         i < OCCUPANCY_FUNCTIONS && run->functions[i].address != 0; ++i) {
        double part = run->functions[i].samples;

        printf("%s %.0f %% in ", i == 0 ? ":" : ",",
               run->samples > 0 ? 100 * part / run->samples : 0);
        printable_put(stdout, loop_function(print, run->functions[i].address));
    }
    putchar('\n');
}

static void print_freeze(struct loop_print *print,
                         const struct occupancy_freeze *freeze)
{
    const char *functions[OCCUPANCY_STACK];
    size_t count = loop_stack(print, freeze, functions);

    printf("%11.3f %11.3f %8u  ", loop_ms(print, freeze->cycles),
           seconds(print, freeze->time), (unsigned)freeze->task);
    loop_print_site(print, freeze->site);
    if (freeze->outer != freeze->site) {
        fputs(" in ", stdout);
        loop_print_site(print, freeze->outer);
    }
    putchar('\n');
    for (size_t i = 0; i < count; ++i) {
        printf("%34s", "");
        printable_put(stdout, functions[i]);
        putchar('\n');
    }
}

static void loop_print_runs(struct loop_print *print)
{
    const struct occupancy *occupancy = &print->occupancy;
    uint32_t *runs = loop_longest_runs(print);
    unsigned long rows = print->rows > 0 ? print->rows : -1ul;

    if (occupancy->run_count > 0 && !log_quiet)
        puts("\n# long runs\n#        ms        at s     task  site, and where "
             "samples hit");
    for (uint32_t i = 0; i < occupancy->run_count && i < rows; ++i)
        print_run(print, &occupancy->runs[runs[i]]);
    if (occupancy->freeze_count > 0 && !log_quiet)
        puts("\n# freezes\n#    ms yet        at s     task  site, and its "
             "stack");
    for (uint32_t i = 0; i < occupancy->freeze_count && i < rows; ++i)
        print_freeze(print, &occupancy->freezes[i]);
    free(runs);
}

#define BAR_CELLS 40u
#define DEPTH_MAX 200u /* of the tree as it is printed */

/* ---- the first lines */

static void print_lately(const struct occupancy *occupancy)
{
    static const double seconds[] = {1, 10, 60};
    const char *before = "; of the last";

    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; ++i) {
        double busy = occupancy_lately(occupancy, seconds[i]);

        if (busy < 0)
            continue;
        printf("%s %g s: %.1f %%", before, seconds[i], 100 * busy);
        before = ",";
    }
    putchar('\n');
}

static void print_head(const struct loop_print *print)
{
    const struct occupancy *occupancy = &print->occupancy;
    const struct event_loop *account = &occupancy->now.account;
    uint64_t parts[OCCUPANCY_PARTS];
    char text[UNDER_SAMPLED_TEXT_MAX];
    double busy;

    if (log_quiet)
        return;
    occupancy_account(&occupancy->now, parts);
    busy = occupancy_busy(parts[OCCUPANCY_WALL],
                          parts[OCCUPANCY_IDLE] + parts[OCCUPANCY_STOLEN]);
    if (print->together > 0)
        printf("# the loops of %u CPUs were busy for %.1f %% of %.3f s",
               (unsigned)print->together, 100 * busy,
               loop_ms(print, account->wall) / 1000);
    else
        printf("# the loop was busy for %.1f %% of %.3f s", 100 * busy,
               loop_ms(print, account->wall) / 1000);
    print_lately(occupancy);
    if (account->sites_refused + account->contexts_refused + account->unbinned >
        0)
        printf("# without room: %u sites, the parents of %" PRIu64
               " calls, %" PRIu64 " values in histograms\n",
               (unsigned)account->sites_refused, account->contexts_refused,
               account->unbinned);
    if (occupancy->now.calls_refused > 0)
        printf("# without statistics of calls: %" PRIu64
               " tasks that ended, or futures\n",
               occupancy->now.calls_refused);
    if (print->cpus.count == 1 && under_sampled(&print->view.model, text))
        printf("# %s\n", text);
}

/* ---- sites */

static void print_row(const struct loop_print *print, uint32_t number)
{
    const struct event_loop_row *row = &print->occupancy.now.sites[number].row;

    printf("%7.2f%% %7.2f%% %11.3f %9" PRIu64 " %7u %9.3f %6" PRIu64
           " %10.3f %9.3f  ",
           loop_percent(print, row->own), loop_percent(print, row->total),
           loop_ms(print, row->own), row->calls, (unsigned)row->pending,
           loop_ms(print, row->oldest) / 1000, row->failed + row->cancelled,
           loop_ms(print, row->longest), loop_ms(print, row->delay_p99));
    loop_print_site(print, number);
    putchar('\n');
}

static void print_percentiles(const struct loop_print *print, uint32_t number)
{
    const struct occupancy_site *site = &print->occupancy.now.sites[number];

    for (unsigned i = 0; i < OCCUPANCY_HISTOGRAMS; ++i) {
        struct loop_quantiles all =
            quantiles_of(site, (enum occupancy_histogram)i);

        if (all.count == 0 && (site->future || i == OCCUPANCY_CALL))
            continue;
        printf("%-5s %10" PRIu64 " %11.4f %11.4f %11.4f  ", loop_histograms[i],
               all.count, loop_ms(print, all.p50), loop_ms(print, all.p90),
               loop_ms(print, all.p99));
        loop_print_site(print, number);
        putchar('\n');
    }
}

/* A line for each octave from the first to the last with values. */
static void print_histogram(const struct loop_print *print, uint32_t number)
{
    const struct occupancy_site *site = &print->occupancy.now.sites[number];
    const uint32_t *buckets = site->buckets[print->histogram];
    uint64_t octaves[OCCUPANCY_BUCKETS / 32] = {0}, most = 1;
    unsigned first = OCCUPANCY_BUCKETS / 32, last = 0;

    if (occupancy_values(buckets) == 0)
        return;
    printf("# %s of ", loop_histograms[print->histogram]);
    loop_print_site(print, number);
    printf(", %" PRIu64 " values\n", occupancy_values(buckets));
    for (unsigned i = 0; buckets != NULL && i < OCCUPANCY_BUCKETS / 32; ++i) {
        for (unsigned j = 0; j < 32; ++j)
            octaves[i] += buckets[32 * i + j];
        if (octaves[i] == 0)
            continue;
        most = octaves[i] > most ? octaves[i] : most;
        first = i < first ? i : first;
        last = i;
    }
    for (unsigned i = first; i <= last; ++i) {
        printf("%12.4f ms %10" PRIu64 "  ",
               loop_ms(print, occupancy_bucket_begin(32 * i)), octaves[i]);
        for (uint64_t j = 0; j < octaves[i] * BAR_CELLS / most; ++j)
            putchar('#');
        putchar('\n');
    }
}

/* All but the idle loop, which is in the account. */
static bool is_shown(const struct occupancy_site *site)
{
    return site->kind != OCCUPANCY_IDLE;
}

static bool runs(const struct occupancy_site *site)
{
    return is_shown(site) && !site->future;
}

static bool has_calls(const struct occupancy_site *site)
{
    return !site->future && site->call.calls > 0;
}

static bool is_future(const struct occupancy_site *site)
{
    return site->future;
}

/* A table of the sites that (is_in), under (head). Futures have no time of
 * their own. */
static void print_sites(const struct loop_print *print,
                        bool (*is_in)(const struct occupancy_site *),
                        void (*row)(const struct loop_print *, uint32_t),
                        const char *head)
{
    const struct occupancy_snapshot *now = &print->occupancy.now;
    uint32_t count, left = 0;
    unsigned long rows = 0;
    enum occupancy_order order =
        is_in == is_future && print->order <= OCCUPANCY_BY_TOTAL
            ? OCCUPANCY_BY_LIFE
            : print->order;
    uint32_t *sites = occupancy_sorted(&print->occupancy, now, order, &count);

    if (!log_quiet)
        puts(head);
    for (uint32_t i = 0; i < count; ++i) {
        if (!is_in(&now->sites[sites[i]]))
            continue;
        if (print->rows == 0 || rows++ < print->rows)
            row(print, sites[i]);
        else
            ++left;
    }
    if (left > 0)
        printf("# and %u sites more\n", (unsigned)left);
    free(sites);
}

/* ---- calls */

static double loop_mean(const struct event_loop_call *call)
{
    return call->calls > 0 ? (double)call->time / (double)call->calls : 0;
}

static void print_call(const struct loop_print *print, uint32_t number)
{
    const struct occupancy_site *site = &print->occupancy.now.sites[number];
    const struct event_loop_call *call = &site->call;
    const struct event_loop_row *row = &site->row;
    double mean = loop_mean(call) * 1000 / (double)print->occupancy.tsc_hz;

    printf("%9" PRIu64 " %11.4f %11.4f %11.4f %11.4f %11.4f %9u %7u %9.3f "
           "%6" PRIu64 "  ",
           call->calls, mean, loop_ms(print, call->p50),
           loop_ms(print, call->p90), loop_ms(print, call->p99),
           loop_ms(print, call->longest), (unsigned)call->longest_task,
           (unsigned)row->pending, loop_ms(print, row->oldest) / 1000,
           row->failed + row->cancelled);
    loop_print_site(print, number);
    putchar('\n');
}

static bool any_site(const struct loop_print *print,
                     bool (*is_in)(const struct occupancy_site *))
{
    const struct occupancy_snapshot *now = &print->occupancy.now;

    for (uint32_t i = 0; i < now->site_count; ++i)
        if (now->sites[i].present && is_in(&now->sites[i]))
            return true;
    return false;
}

#define CALL_COLUMNS                                                           \
    "#   ended     mean ms         p50         p90         p99     longest   " \
    "of task pending  oldest s failed  site"

static void print_calls(const struct loop_print *print)
{
    if (any_site(print, has_calls))
        print_sites(print, has_calls, print_call,
                    "\n# self time of calls, from creation to end of a "
                    "task\n" CALL_COLUMNS);
    if (any_site(print, is_future))
        print_sites(print, is_future, print_call,
                    "\n# futures, from pending to done\n" CALL_COLUMNS);
}

/* ---- the tree */

struct branches {
    const struct loop_print *print;
    uint32_t *order;    /* nodes, by parent and then by total */
    unsigned long left; /* lines */
};

static const struct occupancy_node *all_nodes;

static int by_parent(const void *left, const void *right)
{
    const struct occupancy_node *a = &all_nodes[*(const uint32_t *)left];
    const struct occupancy_node *b = &all_nodes[*(const uint32_t *)right];

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->counts.total != b->counts.total)
        return a->counts.total > b->counts.total ? -1 : 1;
    return (a > b) - (a < b);
}

static uint32_t first_child(const struct branches *branches, uint32_t count,
                            uint32_t parent)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (all_nodes[branches->order[middle]].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void print_children(struct branches *branches, uint32_t parent,
                           unsigned depth)
{
    const struct loop_print *print = branches->print;
    uint32_t count = print->occupancy.now.node_count;

    for (uint32_t i = first_child(branches, count, parent);
         i < count && all_nodes[branches->order[i]].parent == parent; ++i) {
        const struct occupancy_node *node = &all_nodes[branches->order[i]];

        if (node->time == 0 ||
            occupancy_kind(&print->occupancy.now, node->site) == OCCUPANCY_IDLE)
            continue;
        if (branches->left == 0)
            return;
        --branches->left;
        printf("%7.2f%% %7.2f%% %11.3f %9" PRIu64 "  %*s",
               loop_percent(print, node->counts.own),
               loop_percent(print, node->counts.total),
               loop_ms(print, node->counts.own), node->counts.calls,
               (int)(2 * depth), "");
        loop_print_site(print, node->site);
        putchar('\n');
        if (depth < DEPTH_MAX)
            print_children(branches, branches->order[i], depth + 1);
    }
}

static void print_tree(const struct loop_print *print)
{
    const struct occupancy_snapshot *now = &print->occupancy.now;
    struct branches branches = {.print = print,
                                .left = print->rows > 0 ? print->rows : -1ul};

    if (!log_quiet)
        puts("#  self    total     self ms     calls  site, below the sites "
             "that created its tasks");
    branches.order = calloc(now->node_count + 1u, sizeof *branches.order);
    if (branches.order == NULL)
        die("out of memory");
    for (uint32_t i = 0; i < now->node_count; ++i)
        branches.order[i] = i;
    all_nodes = now->nodes;
    if (now->node_count > 0)
        qsort(branches.order, now->node_count, sizeof *branches.order,
              by_parent);
    print_children(&branches, OCCUPANCY_NONE, 0);
    if (branches.left == 0)
        printf("# %lu of %u rows\n", print->rows, (unsigned)now->node_count);
    free(branches.order);
}

/* ---- the account */

static void print_account(const struct loop_print *print)
{
    const struct event_loop *account = &print->occupancy.now.account;
    uint64_t parts[OCCUPANCY_PARTS], sum = 0;
    char number[NUMBER_TEXT_MAX];

    occupancy_account(&print->occupancy.now, parts);
    if (!log_quiet)
        puts("\n# where the time went             cycles          ms   share");
    for (unsigned i = 0; i < OCCUPANCY_PARTS; ++i) {
        if (parts[i] == 0 && i == OCCUPANCY_OTHERS)
            continue;
        sum += i < OCCUPANCY_WALL ? parts[i] : 0;
        printf("%-20s %19s %11.3f %6.2f%%\n", loop_parts[i],
               number_count(parts[i], number), loop_ms(print, parts[i]),
               loop_percent(print, parts[i]));
    }
    printf("# the parts are %s cycles: %s\n", number_count(sum, number),
           sum == account->wall ? "the whole, to the cycle" : "NOT the whole");
    printf("# profiling overhead %.3f %%, stolen as well %.3f %%\n",
           loop_percent(print, account->own),
           loop_percent(print, account->stolen_inside));
}

static void print_loop(struct loop_print *print)
{
    print_head(print);
    if (print->tree)
        print_tree(print);
    else if (print->percentiles)
        print_sites(
            print, is_shown, print_percentiles,
            "# ms      values         p50         p90         p99  site");
    else if (print->has_histogram)
        print_sites(print, is_shown, print_histogram,
                    "#          from      values");
    else
        print_sites(print, runs, print_row,
                    "#  self    total     self ms     calls pending  oldest s "
                    "failed longest ms delay p99  site");
    if (!print->tree && !print->percentiles && !print->has_histogram)
        print_calls(print);
    loop_print_runs(print);
    print_account(print);
}

/* ---- JSON: cycles are exact; ns are rounded */

static json_t *cycles_ns(const struct loop_print *print, uint64_t cycles)
{
    double value = (double)cycles * 1e9 / (double)print->occupancy.tsc_hz + 0.5;

    return json_integer(value < 9e18 ? (json_int_t)value : INT64_MAX);
}

static void set_name(const struct loop_print *print, json_t *object,
                     uint32_t site)
{
    const struct occupancy *occupancy = &print->occupancy;

    json_set(object, "site", json_text(occupancy_name(occupancy, site)));
    json_set(object, "file", json_text(occupancy_file(occupancy, site)));
    json_set(object, "line", json_count(occupancy_line(occupancy, site)));
}

static json_t *histogram_json(const struct loop_print *print,
                              const struct occupancy_site *site,
                              enum occupancy_histogram which)
{
    struct loop_quantiles quantiles = quantiles_of(site, which);
    const uint32_t *buckets = site->buckets[which];
    json_t *object = json_object(), *all = json_array();

    json_set(object, "count", json_count(quantiles.count));
    json_set(object, "p50_ns", cycles_ns(print, quantiles.p50));
    json_set(object, "p90_ns", cycles_ns(print, quantiles.p90));
    json_set(object, "p99_ns", cycles_ns(print, quantiles.p99));
    for (uint32_t i = 0; buckets != NULL && i < OCCUPANCY_BUCKETS; ++i) {
        json_t *bucket;

        if (buckets[i] == 0)
            continue;
        bucket = json_array();
        json_array_append_new(bucket, json_count(occupancy_bucket_begin(i)));
        json_array_append_new(bucket, json_count(buckets[i]));
        json_array_append_new(all, bucket);
    }
    json_set(object, "ranges", all);
    return object;
}

static void set_counts(json_t *object, const struct event_loop_row *row)
{
    json_set(object, "calls", json_count(row->calls));
    json_set(object, "pending", json_count(row->pending));
    json_set(object, "resolved", json_count(row->resolved));
    json_set(object, "failed", json_count(row->failed));
    json_set(object, "cancelled", json_count(row->cancelled));
    json_set(object, "runs", json_count(row->runs));
    json_set(object, "self_cycles", json_count(row->own));
    json_set(object, "total_cycles", json_count(row->total));
    json_set(object, "longest_task", json_count(row->longest_task));
    json_set(object, "longest_tsc", json_count(row->longest_begin));
    json_set(object, "held", json_count(row->held));
}

/* Mean and longest of a site's calls; their percentiles are in `call`, those of
 * futures in `wall`. */
static void set_call(const struct loop_print *print, json_t *object,
                     const struct event_loop_call *call)
{
    json_set(object, "ended", json_count(call->calls));
    json_set(object, "call_cycles", json_count(call->time));
    json_set(
        object, "call_mean_ns",
        json_real(loop_mean(call) * 1e9 / (double)print->occupancy.tsc_hz));
    json_set(object, "longest_call_ns", cycles_ns(print, call->longest));
    json_set(object, "longest_call_task", json_count(call->longest_task));
    json_set(object, "longest_call_tsc", json_count(call->longest_end));
}

static json_t *site_json(const struct loop_print *print, uint32_t number)
{
    const struct occupancy_site *site = &print->occupancy.now.sites[number];
    const struct event_loop_row *row = &site->row;
    json_t *object = json_object();

    set_name(print, object, number);
    json_set(object, "number", json_count(row->site));
    json_set(object, "kind",
             json_text(site->future ? "futures" : loop_part_keys[site->kind]));
    set_counts(object, row);
    if (print->occupancy.now.has_calls)
        set_call(print, object, &site->call);
    json_set(object, "self_ns", cycles_ns(print, row->own));
    json_set(object, "total_ns", cycles_ns(print, row->total));
    json_set(object, "oldest_ns", cycles_ns(print, row->oldest));
    json_set(object, "longest_ns", cycles_ns(print, row->longest));
    json_set(object, "delay_ns", cycles_ns(print, row->delay));
    json_set(object, "wall_ns", cycles_ns(print, row->wall));
    json_set(object, "held_ns", cycles_ns(print, row->held_time));
    for (unsigned i = 0; i < OCCUPANCY_HISTOGRAMS; ++i)
        if (i != OCCUPANCY_CALL || print->occupancy.now.has_calls)
            json_set(object, loop_histograms[i],
                     histogram_json(print, site, (enum occupancy_histogram)i));
    return object;
}

static json_t *sites_json(const struct loop_print *print)
{
    uint32_t count;
    uint32_t *sites = occupancy_sorted(&print->occupancy, &print->occupancy.now,
                                       print->order, &count);
    json_t *all = json_array();

    for (uint32_t i = 0; i < count; ++i)
        json_array_append_new(all, site_json(print, sites[i]));
    free(sites);
    return all;
}

/* Parents come before their children, which name them by "node". */
static json_t *nodes_json(const struct loop_print *print)
{
    const struct occupancy_snapshot *now = &print->occupancy.now;
    json_t *all = json_array();

    for (uint32_t i = 0; i < now->node_count; ++i) {
        const struct occupancy_node *node = &now->nodes[i];
        json_t *object;

        if (node->time == 0)
            continue;
        object = json_object();
        if (print->together > 0) { /* no CPU's numbers */
            json_set(object, "node", json_count(i));
            json_set(
                object, "parent",
                json_count(node->parent == OCCUPANCY_NONE ? i : node->parent));
        } else {
            json_set(object, "node", json_count(node->counts.node));
            json_set(object, "parent", json_count(node->counts.parent));
        }
        set_name(print, object, node->site);
        json_set(object, "calls", json_count(node->counts.calls));
        json_set(object, "self_cycles", json_count(node->counts.own));
        json_set(object, "total_cycles", json_count(node->counts.total));
        json_array_append_new(all, object);
    }
    return all;
}

/* Since the first packet. */
static json_t *at_ns(const struct loop_print *print, uint64_t time)
{
    uint64_t begin = print->view.model.begin;

    return json_count((time > begin ? time - begin : 0) *
                      (1000000000u / PROF_CLOCK_HZ));
}

static json_t *runs_json(struct loop_print *print)
{
    const struct occupancy *occupancy = &print->occupancy;
    uint32_t *runs = loop_longest_runs(print);
    json_t *all = json_array();

    for (uint32_t i = 0; i < occupancy->run_count; ++i) {
        const struct occupancy_run *run = &occupancy->runs[runs[i]];
        json_t *object = json_object(), *functions = json_array();

        set_name(print, object, run->site);
        json_set(object, "task", json_count(run->task));
        json_set(object, "at_ns", at_ns(print, run->time));
        json_set(object, "ns", cycles_ns(print, run->cycles));
        json_set(object, "samples", json_count(run->samples));
        for (unsigned j = 0;
             j < OCCUPANCY_FUNCTIONS && run->functions[j].address != 0; ++j) {
            json_t *function = json_object();

            json_set(
                function, "function",
                json_text(loop_function(print, run->functions[j].address)));
            json_set(function, "samples",
                     json_count(run->functions[j].samples));
            json_array_append_new(functions, function);
        }
        json_set(object, "functions", functions);
        json_array_append_new(all, object);
    }
    free(runs);
    return all;
}

static json_t *freezes_json(struct loop_print *print)
{
    const struct occupancy *occupancy = &print->occupancy;
    json_t *all = json_array();

    for (uint32_t i = 0; i < occupancy->freeze_count; ++i) {
        const struct occupancy_freeze *freeze = &occupancy->freezes[i];
        const char *functions[OCCUPANCY_STACK];
        size_t count = loop_stack(print, freeze, functions);
        json_t *object = json_object(), *stack = json_array();

        set_name(print, object, freeze->site);
        json_set(object, "task", json_count(freeze->task));
        json_set(object, "at_ns", at_ns(print, freeze->time));
        json_set(object, "ns", cycles_ns(print, freeze->cycles));
        for (size_t j = 0; j < count; ++j)
            json_array_append_new(stack, json_text(functions[j]));
        json_set(object, "stack", stack);
        json_array_append_new(all, object);
    }
    return all;
}

static json_t *account_json(const struct loop_print *print)
{
    const struct occupancy_snapshot *now = &print->occupancy.now;
    uint64_t parts[OCCUPANCY_PARTS];
    json_t *object = json_object();

    occupancy_account(now, parts);
    for (unsigned i = 0; i < OCCUPANCY_PARTS; ++i)
        json_set(object, loop_part_keys[i], json_count(parts[i]));
    json_set(object, "of_all_stolen", json_count(now->account.stolen_inside));
    json_set(object, "of_all_statistics", json_count(now->account.own));
    return object;
}

static json_t *busy_json(const struct occupancy *occupancy)
{
    static const struct {
        const char *key;
        double seconds;
    } spans[] = {{"1s", 1}, {"10s", 10}, {"60s", 60}};
    uint64_t parts[OCCUPANCY_PARTS];
    json_t *object = json_object();

    occupancy_account(&occupancy->now, parts);
    json_set(object, "all",
             json_real(
                 occupancy_busy(parts[OCCUPANCY_WALL], parts[OCCUPANCY_IDLE])));
    for (size_t i = 0; i < sizeof spans / sizeof *spans; ++i) {
        double busy = occupancy_lately(occupancy, spans[i].seconds);

        json_set(object, spans[i].key,
                 busy < 0 ? json_null() : json_real(busy));
    }
    return object;
}

static json_t *loop_json(struct loop_print *print)
{
    const struct occupancy *occupancy = &print->occupancy;
    const struct event_loop *account = &occupancy->now.account;
    json_t *all = json_object();

    json_set(all, "tsc_hz", json_count(occupancy->tsc_hz));
    json_set(all, "rounds", json_count(occupancy->rounds));
    json_set(all, "sites_refused", json_count(account->sites_refused));
    json_set(all, "contexts_refused", json_count(account->contexts_refused));
    json_set(all, "unbinned", json_count(account->unbinned));
    if (occupancy->now.has_calls)
        json_set(all, "calls_refused",
                 json_count(occupancy->now.calls_refused));
    json_set(all, "busy", busy_json(occupancy));
    json_set(all, "cycles", account_json(print));
    json_set(all, "freeze_count", json_count(account->freezes));
    json_set(all, "sites", sites_json(print));
    json_set(all, "tree", nodes_json(print));
    json_set(all, "long_runs", runs_json(print));
    json_set(all, "freezes", freezes_json(print));
    return all;
}

/* ---- several CPUs: all together, and each */

/* What is printed next: the sum, which print_next() frees. */
static void begin_with_all(struct loop_print *print)
{
    print->together = print->cpus.count;
    occupancy_cpus_sum(&print->cpus, &print->occupancy);
}

/* Then CPU after CPU, by their index. */
static void go_on_with(struct loop_print *print, uint32_t number)
{
    if (print->together > 0)
        occupancy_free(&print->occupancy);
    print->together = 0;
    print->occupancy = print->cpus.all[number].occupancy;
}

static void loop_print_json(struct loop_print *print)
{
    json_t *all, *each;

    if (print->cpus.count > 1)
        begin_with_all(print);
    else
        go_on_with(print, 0);
    all = loop_json(print);
    if (print->together > 0) {
        each = json_array();
        for (uint32_t i = 0; i < print->cpus.count; ++i) {
            json_t *one;

            go_on_with(print, i);
            one = loop_json(print);
            json_set(one, "cpu", json_count(print->cpus.all[i].cpu));
            json_array_append_new(each, one);
        }
        json_set(all, "cpus", each);
    }
    json_print(all, stdout);
}

static void loop_print_all(struct loop_print *print)
{
    if (print->cpus.count > 1) {
        begin_with_all(print);
        print_loop(print);
    }
    for (uint32_t i = 0; i < print->cpus.count; ++i) {
        if (print->cpus.count > 1)
            printf("\n# CPU %u\n", (unsigned)print->cpus.all[i].cpu);
        go_on_with(print, i);
        print_loop(print);
    }
}

/* ---- the command */

static const char help_text[] =
    "Show which tasks held the event loop, by the site that created them, as "
    "the guest counted it with prof.loop=."
    "\vThe columns: self time, and with that of all tasks that its tasks "
    "created, at every depth; tasks created, those that have not ended, and "
    "the "
    "age of the oldest of them; failed and cancelled ones; the longest single "
    "run; the delay from wake to run that 99 % of the runs had at most.\n\n"
    "With prof.loop_calls= two more tables: self time of tasks over their "
    "lives, and how long primitive futures (sleeps, requests to the disk, "
    "mailboxes, mutexes) were pending: those that have ended, mean, "
    "percentiles, the longest, and which one that was.\n\n"
    "Of a guest with several CPUs: first all loops together, in shares of "
    "the time of all, then the one of each CPU.\n\n"
    "For example:\n"
    "  parasite loop x.trace\n"
    "  parasite loop -s longest --rows 5 x.trace\n"
    "  parasite loop --tree --time 2,3 x.trace\n"
    "  parasite loop --json x.trace | jq '.sites[].self_ns'";

static void set_histogram(char *word)
{
    unsigned i = 0;

    while (i < OCCUPANCY_HISTOGRAMS && strcmp(loop_histograms[i], word) != 0)
        ++i;
    if (i == OCCUPANCY_HISTOGRAMS)
        die_usage("--histogram takes run, delay, wall or call, not '%s'", word);
    request.histogram = (enum occupancy_histogram)i;
    request.has_histogram = true;
}

static void set_order(char *word)
{
    request.order = occupancy_order_of(word);
    if (request.order == OCCUPANCY_ORDERS)
        die_usage("-s takes self, total, longest, delay, wall, calls, "
                  "pending or name, not '%s'",
                  word);
}

static void set_cpu(char *word)
{
    char *end;
    unsigned long number = strtoul(word, &end, 10);

    if (*word < '0' || *word > '9' || *end != '\0' || number > UINT16_MAX)
        die_usage("-C takes the number of a CPU, not '%s'", word);
    request.cpu = (uint16_t)number;
    request.has_cpu = true;
}

static void set_rows(char *word)
{
    request.rows = arguments_rows(word);
}

static const struct argument options[] = {
    {"sort", 's', "KEY",
     "self (default), total, longest, delay, wall, calls, pending or name",
     .take = set_order},
    {"rows", 0, "N", "rows of a table (40; 0 = all)", .take = set_rows},
    {"tree", 0, NULL, "sites below those that created their tasks",
     .flag = &request.tree},
    {"percentiles", 'p', NULL,
     "of runs, delays, wall times and calls, for each site",
     .flag = &request.percentiles},
    {"histogram", 0, "WHAT",
     "for each site: of its run, delay, wall or call times",
     .take = set_histogram},
    {"cpu", 'C', "CPU", "only the loop of this CPU", .take = set_cpu},
    {"json", 'j', NULL, "print JSON, with all rows", .flag = &request.json},
    {0},
};

static const struct command_line line = {options, "[TRACE]", help_text,
                                         .child = &view_trace_options,
                                         .child_owner = &request.view};

static void take_packet(void *owner, const struct packet *packet)
{
    struct loop_print *print = owner;

    occupancy_cpus_take(&print->cpus, packet);
}

static void read_trace(struct loop_print *print)
{
    struct occupancy_cpus *cpus = &print->cpus;
    struct packet_sink sink = {take_packet, print};

    view_open(&print->view);
    cpus->from = print->view.model.from;
    cpus->to = print->view.model.to;
    trace_each(&print->view.trace, &sink);
    occupancy_cpus_finish(cpus);
    if (print->has_cpu && cpus->count > 0 &&
        !occupancy_cpus_only(cpus, print->cpu))
        die("%s: there is nothing of the loop of CPU %u", print->view.input,
            (unsigned)print->cpu);
    if (cpus->count > 0 && cpus->tsc_hz != 0)
        return;
    if (!cpus->any)
        die("%s: there is nothing of loop occupancy; the guest sends it with "
            "prof.loop=",
            print->view.input);
    if (cpus->tsc_hz == 0)
        die("%s: the frequency of the guest's clock is missing",
            print->view.input);
    die("%s: there is nothing of loop occupancy in that time",
        print->view.input);
}

/* Returns whether all that was read can be true. */
static bool print_problems(const struct occupancy *occupancy, const char *whose)
{
    char text[OCCUPANCY_TEXT_MAX];
    bool right = true;

    for (unsigned i = 0; i < OCCUPANCY_PROBLEM_KINDS; ++i) {
        if (occupancy->problems[i].count == 0)
            continue;
        log_error("%s%s", whose,
                  occupancy_problem_text(occupancy,
                                         (enum occupancy_problem_kind)i, text));
        right = right &&
                !occupancy_is_wrong(occupancy, (enum occupancy_problem_kind)i);
    }
    return right;
}

static bool print_all_problems(const struct occupancy_cpus *cpus)
{
    char whose[24] = "";
    bool right = true;

    for (uint32_t i = 0; i < cpus->count; ++i) {
        if (cpus->count > 1)
            snprintf(whose, sizeof whose,
                     "CPU %u: ", (unsigned)cpus->all[i].cpu);
        right = print_problems(&cpus->all[i].occupancy, whose) && right;
    }
    return right;
}

int command_loop(int argc, char **argv)
{
    struct loop_print *print = &request;
    bool right;

    arguments_parse(&line, argc, argv);
    if (print->tree + print->percentiles + print->has_histogram > 1)
        die_usage("one of --tree, -p and --histogram at a time");
    read_trace(print);
    pager_start();
    if (request.json)
        loop_print_json(print);
    else
        loop_print_all(print);
    right = print_all_problems(&print->cpus);
    occupancy_cpus_free(&print->cpus);
    view_close(&print->view);
    return right ? STATUS_OK : STATUS_DATA;
}
