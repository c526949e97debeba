/* SPDX-License-Identifier: Apache-2.0 */
/* parasite diff: which changes between two profiles are significant. */

#include "diff/diff.h"

#include "base/log.h"
#include "base/output.h"
#include "cli/arguments.h"
#include "cli/commands.h"

#include <stdlib.h>

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
                                         .child = &view_argp,
                                         .child_input = &request.now.view};

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
