/* SPDX-License-Identifier: Apache-2.0 */
/* Changes as text and as JSON. */

#include "base/json_text.h"
#include "base/log.h"
#include "base/number.h"
#include "base/printable.h"
#include "diff/diff.h"
#include "trace/metadata.h"

#include <prof/format.h>

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

static void print_side_json(const char *what, const struct report *report)
{
    json_t *side = json_pack(
        "{so so so so so}", "trace", json_text(report->view.trace.path),
        "samples", json_count(report->sum.samples), "lost",
        json_count(model_lost(&report->view.model)), "stolen_ns",
        json_count(report->view.model.stolen_clocks *
                   (1000000000u / PROF_CLOCK_HZ)),
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
