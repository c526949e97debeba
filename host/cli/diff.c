/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parasite diff: which changes between two profiles are significant.
 *
 * The rows of two reports become one list. Functions are matched by name, so
 * the two may be from different images and widths. Shares are compared, not
 * counts, so the durations may differ.
 *
 * A change is news if it is significant (profile/interval.h). All functions are
 * tested together, so the confidence is that of the whole table.
 */

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "profile/interval.h"
#include "report/report.h"
#include "trace/metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_GREW 3 /* --fail-above: a function grew by more */

struct diff_row {
    const char *name;
    struct model_count base; /* self, or total if requested */
    struct model_count now;
    double base_share; /* of the whole, 0 to 1 */
    double share;
    struct interval change; /* of the share; so are the next two */
    double certain;         /* 0 = noise */
};

struct diff {
    struct report base;
    struct report now;
    const char *base_image; /* path, NULL = as recorded */
    bool by_total;
    bool all; /* show noise too */
    bool json;
    double confidence; /* 0 to 1 */
    double fail_above; /* percentage points, -1 = not given */
    const char *color;

    struct strings names;
    struct diff_row *rows; /* significant ones first */
    size_t count;
    size_t news; /* how many are significant */
    double comparisons;
    double z;
};

/* ---- comparing */

static const struct model_count *counted_of(const struct diff *diff,
                                            const struct report_row *row)
{
    return diff->by_total ? &row->total : &row->self;
}

static struct diff_row *row_of(struct diff *diff, const char *name)
{
    uint32_t number = strings_put(&diff->names, name);

    if (number > diff->count) {
        VECTOR_ADD(
            diff->rows, diff->count,
            (struct diff_row){.name = strings_text(&diff->names, number)});
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

/* Shares as samples; by time: as many as if all took the same time. */
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

static void diff_compare(struct diff *diff)
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

static void diff_print(const struct diff *diff)
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

static void diff_print_json(const struct diff *diff)
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

/* ---- the command */

static struct diff request = {
    .color = "auto", .confidence = 0.95, .fail_above = -1};

static const char help_text[] =
    "Show which functions' shares changed between two profiles. "
    "Statistically insignificant changes are omitted."
    "\vThe exit status is 3 if a function grew by more than --fail-above.\n\n"
    "For example:\n"
    "  parasite diff base.trace new.trace\n"
    "  parasite diff --total --all base.trace new.trace\n"
    "  parasite diff -q --fail-above 2 base.trace new.trace || exit 1";

static void set_limit(char *word)
{
    request.fail_above = arguments_number("--fail-above", word, 0, 100);
}

static void set_confidence(char *word)
{
    request.confidence =
        arguments_number("--confidence", word, 50, 99.9999) / 100;
}

static bool take_trace(char *word)
{
    struct report *report =
        request.base.view.input == NULL ? &request.base : &request.now;

    if (report->view.input != NULL)
        die_usage("diff compares two traces; '%s' is a third one", word);
    report->view.input = word;
    return true;
}

static const struct argument options[] = {
    {"total", 0, NULL, "compare total, not self shares",
     .flag = &request.by_total},
    {"all", 0, NULL, "also show insignificant changes, in grey",
     .flag = &request.all},
    {"fail-above", 0, "POINTS",
     "exit with 3 if a share grew significantly by more than POINTS",
     .take = set_limit},
    {"confidence", 0, "PERCENT", "confidence level of the whole table (95)",
     .take = set_confidence},
    {"base-image", 0, "IMAGE", "the image of BASE; -k is the image of NEW",
     .text = &request.base_image},
    {"json", 0, NULL, "print JSON, with all rows", .flag = &request.json},
    {"color", 0, "WHEN", "always, never or auto (default)",
     .text = &request.color, .take = arguments_color},
    {0},
};

static const struct command_line line = {options,
                                         "BASE NEW",
                                         help_text,
                                         .take = take_trace,
                                         .child = &view_options,
                                         .child_owner = &request.now.view};

static void add_up(struct report *report)
{
    report->keys = REPORT_SYMBOL;
    report_add_up(report);
    if (report->sum.samples == 0)
        die("%s: %s", report->view.input, view_why_empty(&report->view));
}

/* The options were parsed for the new profile; the base gets the same ones. */
static void open_both(struct diff *diff)
{
    const char *base = diff->base.view.input;

    if (diff->now.view.has_input)
        die_usage("diff takes its two traces as arguments, without -i");
    if (base == NULL || diff->now.view.input == NULL)
        die_usage("diff needs two traces: parasite diff base.trace new.trace");
    diff->now.view.own_apart = true;
    diff->base.view = diff->now.view;
    diff->base.view.input = base;
    diff->base.view.image_path = diff->base_image;
    view_open(&diff->base.view);
    view_open(&diff->now.view);
    view_must_match(&diff->base.view, &diff->now.view, "--base-image");
    add_up(&diff->base);
    add_up(&diff->now);
}

/* By how much a function with half of the samples would have to change. */
static double undetected_points(const struct diff *diff)
{
    struct interval_pair pair = {
        .base_hits = (double)diff->base.sum.samples / 2,
        .base_whole = (double)diff->base.sum.samples,
        .new_hits = (double)diff->now.sum.samples / 2,
        .new_whole = (double)diff->now.sum.samples,
    };
    struct interval reach = interval_difference(&pair, diff->z);

    return 100 * reach.high;
}

static int verdict(const struct diff *diff)
{
    double unseen = undetected_points(diff);
    int status = STATUS_OK;

    if (diff->fail_above < 0)
        return STATUS_OK;
    for (size_t i = 0; i < diff->news; ++i) {
        const struct diff_row *row = &diff->rows[i];

        if (100 * row->certain <= diff->fail_above)
            continue;
        log_error("%s grew by at least %.2f points, more than %g", row->name,
                  100 * row->certain, diff->fail_above);
        status = STATUS_GREW;
    }
    if (status == STATUS_OK && unseen > diff->fail_above)
        log_info("too few samples to rule out growth of up to %.2f points; "
                 "sample longer",
                 unseen + diff->fail_above);
    return status;
}

static void close_both(struct diff *diff)
{
    report_close(&diff->base);
    report_close(&diff->now);
    strings_free(&diff->names);
    free(diff->rows);
}

int command_diff(int argc, char **argv)
{
    int status;

    arguments_parse(&line, argc, argv);
    open_both(&request);
    diff_compare(&request);
    if (!request.json)
        pager_start();
    if (request.json)
        diff_print_json(&request);
    else
        diff_print(&request);
    status = verdict(&request);
    close_both(&request);
    return status;
}
