/* SPDX-License-Identifier: Apache-2.0 */
/* The list of sites as plain text, for a pipe or a file. */

#include "base/log.h"
#include "top/print.h"
#include "top/sites.h"

#include <stdio.h>

static void print_head(const struct top_sites *top)
{
    char remark[256];

    if (log_quiet)
        return;
    printf("# %.1f %% busy: %.1f %% tasks, %.1f %% callbacks, %.1f %% "
           "interrupts; recent shares of time\n",
           top_sites_busy(top), top_sites_part(top, OCCUPANCY_TASKS),
           top_sites_part(top, OCCUPANCY_CALLBACKS),
           top_sites_part(top, OCCUPANCY_INTERRUPTS));
    top_print_remarks(top->boots, top_sites_remark(top, remark, sizeof remark));
    top_print_remarks(0, top->live->why);
    puts("#\n#   Own    Total    Calls/s  Pending  Longest ms  Delay ms  Site");
}

static void put_counts(const struct top_row *row)
{
    printf(" %10.1f %8u %11.3f %9.3f", row->rate, (unsigned)row->pending,
           row->longest_ms, row->delay_ms);
}

/* Instead of a table in which nothing is known. */
static bool print_beginning(const struct top_sites *top)
{
    if (log_quiet)
        return true;
    printf("# warming up: %s\n", top_sites_silence(top));
    top_print_remarks(top->boots, top->live->why);
    return fflush(stdout) == 0;
}

bool top_sites_print(const struct top_sites *top, size_t rows, bool color)
{
    static const struct top_rows_form form = {put_counts, 42, "sites"};

    if (top_sites_warm_up(top))
        return print_beginning(top);
    print_head(top);
    return top_print_rows(top->rows, top->count, rows, &form, color);
}
