/* SPDX-License-Identifier: Apache-2.0 */
/* Loop occupancy as text: sites, their tree, histograms, the account. */

#include "cli/loop_print.h"

#include "base/log.h"
#include "base/number.h"
#include "base/printable.h"
#include "profile/under_sampled.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR_CELLS 40u
#define DEPTH_MAX 200u /* of the tree as it is printed */

void loop_print_site(const struct loop_print *print, uint32_t site)
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
    printf("# the loop was busy for %.1f %% of %.3f s", 100 * busy,
           loop_ms(print, account->wall) / 1000);
    print_lately(occupancy);
    if (account->sites_refused + account->contexts_refused + account->unbinned >
        0)
        printf("# without room: %u sites, the parents of %" PRIu64
               " calls, %" PRIu64 " values in histograms\n",
               (unsigned)account->sites_refused, account->contexts_refused,
               account->unbinned);
    if (under_sampled(&print->view.model, text))
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
    const struct event_loop_row *row = &print->occupancy.now.sites[number].row;
    const struct {
        uint64_t count, p50, p90, p99;
    } all[OCCUPANCY_HISTOGRAMS] = {
        {row->runs, row->run_p50, row->run_p90, row->run_p99},
        {row->delays, row->delay_p50, row->delay_p90, row->delay_p99},
        {row->walls, row->wall_p50, row->wall_p90, row->wall_p99},
    };

    for (unsigned i = 0; i < OCCUPANCY_HISTOGRAMS; ++i) {
        printf("%-5s %10" PRIu64 " %11.4f %11.4f %11.4f  ", loop_histograms[i],
               all[i].count, loop_ms(print, all[i].p50),
               loop_ms(print, all[i].p90), loop_ms(print, all[i].p99));
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
static void print_sites(const struct loop_print *print,
                        void (*row)(const struct loop_print *, uint32_t),
                        const char *head)
{
    const struct occupancy_snapshot *now = &print->occupancy.now;
    uint32_t count, left = 0;
    unsigned long rows = 0;
    uint32_t *sites =
        occupancy_sorted(&print->occupancy, now, print->order, &count);

    if (!log_quiet)
        puts(head);
    for (uint32_t i = 0; i < count; ++i) {
        if (occupancy_kind(now, sites[i]) == OCCUPANCY_IDLE)
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

/* The first place in the order with children of (parent). */
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
        puts("#   own    total      own ms     calls  site, below the sites "
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
    printf("# of all: these statistics %.3f %%, stolen as well %.3f %%\n",
           loop_percent(print, account->own),
           loop_percent(print, account->stolen_inside));
}

void loop_print(struct loop_print *print)
{
    print_head(print);
    if (print->tree)
        print_tree(print);
    else if (print->percentiles)
        print_sites(
            print, print_percentiles,
            "# ms      values         p50         p90         p99  site");
    else if (print->has_histogram)
        print_sites(print, print_histogram, "#          from      values");
    else
        print_sites(print, print_row,
                    "#   own    total      own ms     calls pending  oldest s "
                    "failed longest ms delay p99  site");
    loop_print_runs(print);
    print_account(print);
}
