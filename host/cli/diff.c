/* SPDX-License-Identifier: Apache-2.0 */
/* parasite diff: which changes between two profiles are significant. */

#include "diff/diff.h"

#include "base/log.h"
#include "base/pager.h"
#include "cli/arguments.h"
#include "cli/commands.h"

#include <stdlib.h>

enum {
    KEY_TOTAL = 512,
    KEY_ALL,
    KEY_JSON,
    KEY_COLOR,
    KEY_CONFIDENCE,
    KEY_FAIL,
    KEY_IMAGE
};

static const char help_text[] =
    "Show which functions' shares changed between two profiles. "
    "Statistically insignificant changes are omitted."
    "\vThe exit status is 3 if a function grew by more than --fail-above.\n\n"
    "For example:\n"
    "  parasite diff base.trace new.trace\n"
    "  parasite diff --total --all base.trace new.trace\n"
    "  parasite diff -q --fail-above 2 base.trace new.trace || exit 1";

static const struct argp_option options[] = {
    {"total", KEY_TOTAL, NULL, 0, "compare total, not self shares", 0},
    {"all", KEY_ALL, NULL, 0, "also show insignificant changes, in grey", 0},
    {"fail-above", KEY_FAIL, "POINTS", 0,
     "exit with 3 if a share grew significantly by more than POINTS", 0},
    {"confidence", KEY_CONFIDENCE, "PERCENT", 0,
     "confidence level of the whole table (95)", 0},
    {"base-image", KEY_IMAGE, "IMAGE", 0,
     "the image of BASE; -k is the image of NEW", 0},
    {"json", KEY_JSON, NULL, 0, "print JSON, with all rows", 0},
    {"color", KEY_COLOR, "WHEN", 0, "always, never or auto (default)", 0},
    {0},
};

static double percent_of(const char *option, const char *word)
{
    char *end;
    double percent = strtod(word, &end);

    if (end == word || *end != '\0' || !(percent >= 0 && percent <= 100))
        die_usage("%s takes 0 to 100, not '%s'", option, word);
    return percent;
}

static double confidence_of(const char *word)
{
    double percent = percent_of("--confidence", word);

    if (percent < 50 || percent > 99.9999)
        die_usage("--confidence takes 50 to 99.9999, not '%s'", word);
    return percent / 100;
}

static error_t parse_form(int key, char *word, struct diff *diff)
{
    switch (key) {
    case KEY_TOTAL:
        diff->by_total = true;
        break;
    case KEY_ALL:
        diff->all = true;
        break;
    case KEY_JSON:
        diff->json = true;
        break;
    case KEY_COLOR:
        diff->color = color_when(word);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void set_trace(struct diff *diff, char *word)
{
    struct report *report =
        diff->base.view.input == NULL ? &diff->base : &diff->now;

    if (report->view.input != NULL)
        die_usage("diff compares two traces; '%s' is a third one", word);
    report->view.input = word;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct diff *diff = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &diff->now.view;
        break;
    case ARGP_KEY_ARG:
        set_trace(diff, word);
        break;
    case KEY_FAIL:
        diff->fail_above = percent_of("--fail-above", word);
        break;
    case KEY_CONFIDENCE:
        diff->confidence = confidence_of(word);
        break;
    case KEY_IMAGE:
        diff->base_image = word;
        break;
    default:
        return parse_form(key, word, diff);
    }
    return 0;
}

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
    static const struct argp_child children[] = {
        {&view_argp, 0, NULL, 0},
        {0},
    };
    static const struct argp argp = {options,  parse, "BASE NEW", help_text,
                                     children, 0,     0};
    static struct diff diff = {
        .color = "auto", .confidence = 0.95, .fail_above = -1};
    int status;

    arguments_parse(&argp, argc, argv, &diff);
    open_both(&diff);
    diff_compare(&diff);
    if (!diff.json)
        pager_start();
    if (diff.json)
        diff_print_json(&diff);
    else
        diff_print(&diff);
    status = verdict(&diff);
    close_both(&diff);
    return status;
}
