/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and trees as text, like perf report --stdio. */

#include "base/log.h"
#include "base/output.h"
#include "base/text.h"
#include "profile/under_sampled.h"
#include "report/report.h"
#include "trace/metadata.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define RED_PERCENT 5.0
#define GREEN_PERCENT 0.5
#define ROWS_USUAL 40
#define PREFIX_MAX 1024 /* of lines before a branch */

/* "symbol file.c:12 task 0": the row's keys, with names, printable. */
static void row_name(const struct report *report, uint32_t row, char *printed,
                     size_t room)
{
    char text[REPORT_NAME_MAX];
    const struct report_row *from = &report->rows[row];
    const struct names *names = &report->view.names;
    size_t used = 0;

    *text = '\0';
#define PUT(key, ...)                                                          \
    if ((report->keys & (key)) != 0 && used < sizeof text)                     \
    used += (size_t)snprintf(text + used, sizeof text - used, __VA_ARGS__)
    PUT(REPORT_TASK, "%s  ", names_text(names, from->task));
    PUT(REPORT_CPU, "%03u  ", (unsigned)from->cpu);
    PUT(REPORT_LINE, "%s  ",
        from->frame.line != 0 ? names_text(names, from->frame.line) : "??:0");
    PUT(REPORT_SYMBOL, "%s  ", names_text(names, from->frame.function));
#undef PUT
    used = strlen(text);
    while (used > 0 && text[used - 1] == ' ')
        text[--used] = '\0';
    printable(text, printed, room);
}

static void print_stolen(const struct model *model)
{
    double whole = (double)(model_clocks(model) + model->stolen_clocks);

    if (model->stolen_clocks > 0)
        printf("# %.3f s stolen, %.2f %% of the time%s; it is in no share\n",
               (double)model->stolen_clocks / PROF_CLOCK_HZ,
               100 * (double)model->stolen_clocks / whole,
               model->steal_clock ? ", by the hypervisor's own account"
                                  : ": the host did not run the guest");
}

/* The profiler's share of its own and all that is selected. */
static double own_percent(const struct report *report)
{
    double own = (double)view_weight(&report->view, &report->own);
    double rest = (double)view_weight(&report->view, &report->sum);

    return own + rest > 0 ? 100 * own / (own + rest) : 0;
}

static void print_head(const struct report *report)
{
    const struct model *model = &report->view.model;
    char samples[NUMBER_TEXT_MAX], lost[NUMBER_TEXT_MAX],
        shown[NUMBER_TEXT_MAX], text[UNDER_SAMPLED_TEXT_MAX];

    if (log_quiet)
        return;
    fputs("# ", stdout);
    printable_put(stdout, report->view.trace.path);
    printf(": %s, %g Hz, %.3f s\n", metadata_arch(&model->hello),
           model->rate_mhz / 1000.0,
           (double)(model->end - model->begin) / PROF_CLOCK_HZ);
    printf("# %s samples, %s lost; shares of %s: 100 %% are %s samples, %.3f "
           "s\n",
           number_count(model_samples(model), samples),
           number_count(model_lost(model), lost),
           view_weight_name(&report->view),
           number_count(report->sum.samples, shown),
           (double)report->sum.clocks / PROF_CLOCK_HZ);
    if (model->missing_packets > 0)
        printf("# %s packets are missing, and what was in them\n",
               number_count(model->missing_packets, lost));
    if (model->lost_events > 0)
        printf("# %s events of tasks lost; prof.trace_kb=%u keeps them\n",
               number_count(model->lost_events, lost),
               model_trace_kib(model->lost_at_once));
    print_stolen(model);
    if (report->own.samples > 0)
        printf("# the profiler itself: %s samples, %.2f %% of the %s; they are "
               "in no share, --profiler lists them\n",
               number_count(report->own.samples, samples), own_percent(report),
               view_weight_name(&report->view));
    if (model_is_steady(model))
        puts("# the sampling period does not vary: code that runs in step with "
             "it has a wrong share");
    if (under_sampled(model, text))
        printf("# %s\n", text);
    weigh_print(&report->view, "# ", stdout);
    report_print_cpus(model, "# ");
    puts("#");
}

static void print_percent(const struct report *report,
                          const struct model_count *count)
{
    double percent = report_percent(report, count);
    const char *color = percent >= RED_PERCENT     ? "\033[31m"
                        : percent >= GREEN_PERCENT ? "\033[32m"
                                                   : "";

    if (use_color(report->color) && *color != '\0')
        printf("%s%7.2f%%\033[m", color, percent);
    else
        printf("%7.2f%%", percent);
}

static void print_columns(const struct report *report)
{
    if (log_quiet)
        return;
    printf("#  Self    Total  %s    Samples   ",
           report->has_exits ? " In VMM  " : "");
    printf("%s%s%s%s\n", (report->keys & REPORT_TASK) != 0 ? "Task  " : "",
           (report->keys & REPORT_CPU) != 0 ? "CPU  " : "",
           (report->keys & REPORT_LINE) != 0 ? "Source line  " : "",
           (report->keys & REPORT_SYMBOL) != 0 ? "Symbol" : "");
}

static void print_calls(const struct report *report, uint32_t row, bool callers)
{
    size_t count;
    uint32_t *calls = report_calls(report, row, callers, &count);

    for (size_t i = 0; i < count; ++i) {
        const struct report_edge *edge = &report->edges[calls[i]];
        char name[REPORT_NAME_MAX];

        row_name(report, callers ? edge->caller : edge->callee, name,
                 sizeof name);
        printf("        ");
        print_percent(report, &edge->count);
        printf("%15s %s %s\n", "", callers ? "<-" : "->", name);
    }
    free(calls);
}

/* Returns whether the row is marked as one of few samples. */
static bool print_row(const struct report *report, uint32_t number)
{
    const struct report_row *row = &report->rows[number];
    char name[REPORT_NAME_MAX], samples[NUMBER_TEXT_MAX];
    struct interval interval;
    bool few;

    row_name(report, number, name, sizeof name);
    print_percent(report, &row->self);
    putchar(' ');
    print_percent(report, &row->total);
    if (report->has_exits) {
        putchar(' ');
        print_percent(report, &row->exits);
    }
    few = report_interval(report, &row->self, &interval);
    printf(" %12s%s%s", number_count(row->self.samples, samples),
           few ? " ? " : "   ", name);
    if (few)
        printf("  (%.2f to %.2f %%)", interval.low, interval.high);
    putchar('\n');
    if (report->callers)
        print_calls(report, number, true);
    if (report->callees)
        print_calls(report, number, false);
    return few;
}

/* What the table leaves out: it has (shown) of (count) above the limit. */
static void print_rest(const struct report *report, const uint32_t *rows,
                       size_t shown, size_t count)
{
    bool symbols = report->keys == REPORT_SYMBOL;
    uint32_t all = report->row_keys.count;
    struct model_count rest = report->sum;
    char number[NUMBER_TEXT_MAX];

    if (log_quiet || shown == all)
        return;
    for (size_t i = 0; i < shown; ++i) {
        rest.samples -= report->rows[rows[i]].self.samples;
        rest.clocks -= report->rows[rows[i]].self.clocks;
    }
    printf("# %s more %s%s, together %.2f %% self; ",
           number_count(all - shown, number), symbols ? "function" : "row",
           all - shown == 1 ? "" : "s", report_percent(report, &rest));
    printf("%s shows %s\n",
           shown < count ? "--rows 0" : "a lower --percent-limit",
           all - shown == 1 ? "it" : "them");
}

/* Whoever gave a limit of percent gets all rows above it. */
static size_t row_limit(const struct report *report, size_t count)
{
    size_t limit = report->row_limit >= 0 ? (size_t)report->row_limit
                   : report->limit >= 0   ? 0
                                          : ROWS_USUAL;

    return limit > 0 && limit < count ? limit : count;
}

void report_print(const struct report *report)
{
    size_t count, shown;
    uint32_t *rows = report_rows(report, &count);
    bool few = false;

    shown = row_limit(report, count);
    print_head(report);
    print_columns(report);
    for (size_t i = 0; i < shown; ++i)
        few |= print_row(report, rows[i]);
    if (few && !log_quiet)
        puts("# ? fewer than 16 samples; in brackets the 95 % interval of the "
             "share");
    print_rest(report, rows, shown, count);
    report_print_stretches(report);
    free(rows);
}

/* (prefix) has the vertical lines before the children of (parent). */
static void print_branches(const struct report *report, uint32_t parent,
                           char *prefix)
{
    size_t count, used = strlen(prefix);
    uint32_t *branches = report_children(report, parent, &count);
    bool is_root = parent == REPORT_NONE;
    bool fits = !is_root && used + 4 < PREFIX_MAX;

    for (size_t i = 0; i < count; ++i) {
        const struct report_branch *branch = &report->branches[branches[i]];
        bool last = i + 1 == count;
        char name[REPORT_NAME_MAX];

        row_name(report, branch->row, name, sizeof name);
        print_percent(report, &branch->total);
        putchar(' ');
        print_percent(report, &branch->self);
        printf("  %s%s%s\n", prefix, is_root ? "" : last ? "`- " : "|- ", name);
        if (fits)
            strcpy(prefix + used, last ? "   " : "|  ");
        print_branches(report, branches[i], prefix);
        prefix[used] = '\0';
    }
    free(branches);
}

void report_print_tree(const struct report *report)
{
    char prefix[PREFIX_MAX] = "";

    print_head(report);
    if (!log_quiet)
        puts("#  Total    Self  Stack");
    print_branches(report, REPORT_NONE, prefix);
}
