/* SPDX-License-Identifier: Apache-2.0 */
/* The list of top as plain text, for a pipe or a file. */

#include "top/print.h"

#include "base/log.h"
#include "base/number.h"
#include "base/path.h"
#include "base/printable.h"
#include "trace/metadata.h"

#include <stdio.h>

#define RED_PERCENT 5.0
#define GREEN_PERCENT 0.5

static void print_percent(double percent, bool color)
{
    const char *begin = percent >= RED_PERCENT     ? "\033[31m"
                        : percent >= GREEN_PERCENT ? "\033[32m"
                                                   : "";

    if (color && *begin != '\0')
        printf("%s%7.2f%%\033[m", begin, percent);
    else
        printf("%7.2f%%", percent);
}

void top_print_remarks(unsigned boots, const char *remark)
{
    if (boots > 1)
        printf("# boot %u of the guest\n", boots);
    if (*remark == '\0')
        return;
    fputs("# ", stdout);
    printable_put(stdout, remark);
    putchar('\n');
}

bool top_print_rows(const struct top_row *rows, size_t count, size_t limit,
                    const struct top_rows_form *form, bool color)
{
    double rest = 0;

    for (size_t i = 0; i < count; ++i) {
        const struct top_row *row = &rows[i];

        if (i >= limit) {
            rest += row->self;
            continue;
        }
        print_percent(row->self, color);
        putchar(' ');
        print_percent(row->total, color);
        form->put(row);
        fputs("  ", stdout);
        printable_put(stdout, row->name);
        putchar('\n');
    }
    if (count > limit) {
        print_percent(rest, color);
        printf("%*sin %zu more %s\n", form->width + 11, "", count - limit,
               form->what);
    }
    putchar('\n');
    return fflush(stdout) == 0;
}

/* What is known of the guest. */
static void print_guest(const struct top_model *top)
{
    const struct model *model = &top->live->model;
    const char *image = top->report.view.names.image != NULL
                            ? top->report.view.image.path
                            : NULL;

    fputs("# ", stdout);
    if (image != NULL) {
        printable_put(stdout, path_name(image));
        fputs(", ", stdout);
    }
    if (model->hello.version != 0)
        printf("%s, ", metadata_arch(&model->hello));
    if (model->rate_mhz > 0)
        printf("%g Hz, %u callers, ", model->rate_mhz / 1000.0,
               (unsigned)model->depth);
    printf("%.1f s\n", top_model_seconds(top));
}

static void print_head(const struct top_model *top)
{
    char lost[NUMBER_TEXT_MAX], missed[NUMBER_TEXT_MAX];

    if (log_quiet)
        return;
    print_guest(top);
    printf("# %.1f samples/s, %.1f %% idle, %.1f %% stolen, %s lost, %s "
           "missed; recent shares of %s\n",
           top_model_rate(top), top->idle, top_model_stolen(top),
           number_count(top_model_lost(top), lost),
           number_count(top_model_missed(top), missed),
           view_weight_name(&top->report.view));
    top_print_remarks(top->live->boots, top->live->why);
    puts("#\n#  Self    Total  Samples/s  Symbol");
}

/* Instead of a table in which nothing is known. */
static bool print_beginning(const struct top_model *top)
{
    if (log_quiet)
        return true;
    printf("# warming up: %s\n",
           top->live->boots == 0 ? live_silence(top->live) : TOP_WARMS_UP);
    top_print_remarks(top->live->boots, top->live->why);
    return fflush(stdout) == 0;
}

static void put_rate(const struct top_row *row)
{
    printf(" %10.1f", row->rate);
}

bool top_print(const struct top_model *top, size_t rows, bool color)
{
    static const struct top_rows_form form = {put_rate, 11, "functions"};

    if (top->live->boots == 0 || top->warms_up)
        return print_beginning(top);
    print_head(top);
    return top_print_rows(top->rows, top->count, rows, &form, color);
}
