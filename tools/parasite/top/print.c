/* SPDX-License-Identifier: Apache-2.0 */
/* The list of top as plain text, for a pipe or a file. */

#include "top/print.h"

#include "base/log.h"
#include "base/number.h"
#include "base/printable.h"
#include "trace/metadata.h"

#include <stdio.h>
#include <string.h>

#define RED_PERCENT 5.0
#define GREEN_PERCENT 0.5

void top_print_percent(double percent, bool color)
{
    const char *begin = percent >= RED_PERCENT     ? "\033[31m"
                        : percent >= GREEN_PERCENT ? "\033[32m"
                                                   : "";

    if (color && *begin != '\0')
        printf("%s%7.2f%%\033[m", begin, percent);
    else
        printf("%7.2f%%", percent);
}

/* What is known of the guest. */
static void print_guest(const struct top_model *top)
{
    const struct model *model = &top->live->model;
    const char *image = top->report.view.image_path, *slash;

    fputs("# ", stdout);
    if (image != NULL) {
        slash = strrchr(image, '/');
        printable_put(stdout, slash != NULL ? slash + 1 : image);
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
    if (top->live->boots == 0)
        printf("# %s\n", live_silence(top->live));
    if (top->live->boots > 1)
        printf("# boot %u of the guest\n", top->live->boots);
    if (top->live->why[0] != '\0') {
        fputs("# ", stdout);
        printable_put(stdout, top->live->why);
        putchar('\n');
    }
    puts("#\n#  Self    Total  Samples/s  Symbol");
}

bool top_print(const struct top_model *top, size_t rows, bool color)
{
    double rest = 0;

    print_head(top);
    for (size_t i = 0; i < top->count; ++i) {
        const struct top_row *row = &top->rows[i];

        if (i >= rows) {
            rest += row->self;
            continue;
        }
        top_print_percent(row->self, color);
        putchar(' ');
        top_print_percent(row->total, color);
        printf(" %10.1f  ", row->rate);
        printable_put(stdout, row->name);
        putchar('\n');
    }
    if (top->count > rows) {
        top_print_percent(rest, color);
        printf("%21sin %zu more functions\n", "", top->count - rows);
    }
    putchar('\n');
    return fflush(stdout) == 0;
}
