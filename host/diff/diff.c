/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of two reports become one list, each change is judged, and printed
 * as text or as JSON. */

#include "diff/diff.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/text.h"
#include "trace/metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct model_count *counted_of(const struct diff *diff,
                                            const struct report_row *row)
{
    return diff->by_total ? &row->total : &row->self;
}

static struct diff_row *row_of(struct diff *diff, const char *name)
{
    uint32_t number = strings_put(&diff->names, name);

    if (number > diff->count) {
        vector_reserve_one(&diff->rows, diff->count, sizeof *diff->rows);
        diff->rows[diff->count++] =
            (struct diff_row){.name = strings_text(&diff->names, number)};
    }
    return &diff->rows[number - 1];
}

static void match_rows(struct diff *diff)
{
    for (int side = 0; side < 2; ++side) {
        struct report *report = side == 0 ? &diff->base : &diff->now;

        for (uint32_t i = 0; i < report->row_keys.count; ++i) {
            const struct report_row *from = &report->rows[i];
            struct diff_row *row = row_of(
                diff, names_text(&report->view.names, from->frame.function));

            *(side == 0 ? &row->base : &row->now) = *counted_of(diff, from);
        }
    }
}

/* Shares as samples: with --weight time, as many as if all had accounted for
 * the same time. */
static struct interval_pair pair_of(const struct diff *diff,
                                    const struct diff_row *row)
{
    double base_whole = (double)diff->base.sum.samples;
    double new_whole = (double)diff->now.sum.samples;

    return (struct interval_pair){
        .base_hits = row->base_share * base_whole,
        .base_whole = base_whole,
        .new_hits = row->share * new_whole,
        .new_whole = new_whole,
    };
}

static int by_size(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a < *b) - (*a > *b);
}

static void count_comparisons(struct diff *diff)
{
    double *totals = xreallocarray(NULL, diff->count, sizeof *totals);
    struct interval_pair wholes = {
        .base_whole = (double)diff->base.sum.samples,
        .new_whole = (double)diff->now.sum.samples,
    };

    for (size_t i = 0; i < diff->count; ++i) {
        struct interval_pair pair = pair_of(diff, &diff->rows[i]);

        totals[i] = pair.base_hits + pair.new_hits;
    }
    qsort(totals, diff->count, sizeof *totals, by_size);
    diff->comparisons =
        interval_comparisons(totals, diff->count, &wholes, diff->confidence);
    diff->z = interval_z(diff->confidence, diff->comparisons);
    free(totals);
}

static int by_certainty(const void *left, const void *right)
{
    const struct diff_row *a = left, *b = right;
    double certain = fabs(b->certain) - fabs(a->certain);
    double change =
        fabs(b->share - b->base_share) - fabs(a->share - a->base_share);

    if (certain != 0)
        return certain > 0 ? 1 : -1;
    if (change != 0)
        return change > 0 ? 1 : -1;
    return strcmp(a->name, b->name);
}

void diff_compare(struct diff *diff)
{
    match_rows(diff);
    for (size_t i = 0; i < diff->count; ++i) {
        struct diff_row *row = &diff->rows[i];

        row->base_share = report_percent(&diff->base, &row->base) / 100;
        row->share = report_percent(&diff->now, &row->now) / 100;
    }
    count_comparisons(diff);
    for (size_t i = 0; i < diff->count; ++i) {
        struct diff_row *row = &diff->rows[i];
        struct interval_pair pair = pair_of(diff, row);

        row->change = interval_difference(&pair, diff->z);
        row->certain = interval_certain(&row->change);
        diff->news += row->certain != 0;
    }
    if (diff->count > 0)
        qsort(diff->rows, diff->count, sizeof *diff->rows, by_certainty);
}

/* ---- text */

#define RED "\033[31m"
#define GREEN "\033[32m"
#define GREY "\033[90m"

static void print_side(const char *what, const struct report *report)
{
    const struct model *model = &report->view.model;
    char samples[NUMBER_TEXT_MAX], lost[NUMBER_TEXT_MAX];

    printf("# %s ", what);
    printable_put(stdout, report->view.trace.path);
    printf(": %s, %g Hz, %s samples, %s lost, %.3f s stolen\n",
           metadata_arch(&model->hello), model->rate_mhz / 1000.0,
           number_count(report->sum.samples, samples),
           number_count(model_lost(model), lost),
           (double)model->stolen_clocks / PROF_CLOCK_HZ);
}

static void print_head(const struct diff *diff)
{
    if (log_quiet)
        return;
    print_side("base", &diff->base);
    print_side("new ", &diff->now);
    printf("# change of %s shares (of %s) in percentage points, with its "
           "confidence interval:\n"
           "# with %g %% confidence, all %g comparisons hold together\n#\n",
           diff->by_total ? "total" : "self", view_weight_name(&diff->now.view),
           100 * diff->confidence, diff->comparisons);
    puts("#   Base      New   Change   from     to   Symbol");
}

static void print_row(const struct diff *diff, const struct diff_row *row)
{
    const char *color = row->certain > 0   ? RED
                        : row->certain < 0 ? GREEN
                                           : GREY;
    bool colored = use_color(diff->color);

    printf("%s%7.2f%% %7.2f%% %+7.2f  %+7.2f %+7.2f  %s", colored ? color : "",
           100 * row->base_share, 100 * row->share,
           100 * (row->share - row->base_share), 100 * row->change.low,
           100 * row->change.high, row->certain == 0 ? "(noise) " : "");
    printable_put(stdout, row->name);
    puts(colored ? "\033[m" : "");
}

void diff_print(const struct diff *diff)
{
    size_t noise = diff->count - diff->news;

    print_head(diff);
    for (size_t i = 0; i < (diff->all ? diff->count : diff->news); ++i)
        print_row(diff, &diff->rows[i]);
    if (log_quiet)
        return;
    if (diff->news == 0)
        puts("# no function changed significantly");
    if (noise > 0 && !diff->all)
        printf("# %zu insignificant change%s omitted; --all shows %s\n", noise,
               noise == 1 ? "" : "s", noise == 1 ? "it" : "them");
}

/* ---- JSON */

static void print_side_json(const char *what, const struct report *report)
{
    json_t *side = json_pack(
        "{so so so so so}", "trace", json_text(report->view.trace.path),
        "samples", json_count(report->sum.samples), "lost",
        json_count(model_lost(&report->view.model)), "stolen_ns",
        json_count(report->view.model.stolen_clocks * MODEL_NS_PER_CLOCK),
        "arch", json_text(metadata_arch(&report->view.model.hello)));

    printf("\"%s\": ", what);
    json_dumpf(side, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    puts(",");
    json_decref(side);
}

static void print_row_json(const struct diff_row *row)
{
    json_t *object = json_pack(
        "{so so so sf sf sf sf sf sb}", "symbol", json_text(row->name), "base",
        json_count(row->base.samples), "new", json_count(row->now.samples),
        "base_percent", 100 * row->base_share, "new_percent", 100 * row->share,
        "change", 100 * (row->share - row->base_share), "low",
        100 * row->change.low, "high", 100 * row->change.high, "news",
        (int)(row->certain != 0));

    json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(object);
}

void diff_print_json(const struct diff *diff)
{
    putchar('{');
    print_side_json("base", &diff->base);
    print_side_json("new", &diff->now);
    printf("\"counted\": \"%s\",\n\"weight\": \"%s\",\n\"confidence\": %g,\n"
           "\"comparisons\": %g,\n\"news\": %zu,\n\"rows\": [",
           diff->by_total ? "total" : "self", view_weight_name(&diff->now.view),
           diff->confidence, diff->comparisons, diff->news);
    for (size_t i = 0; i < diff->count; ++i) {
        fputs(i > 0 ? ",\n  " : "\n  ", stdout);
        print_row_json(&diff->rows[i]);
    }
    puts("\n]}");
}
