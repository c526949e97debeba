/* SPDX-License-Identifier: Apache-2.0 */
/* The list of sites as plain text, for a pipe or a file. */

#include "base/log.h"
#include "base/printable.h"
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
    if (top->boots > 1)
        printf("# boot %u of the guest\n", top->boots);
    if (*top_sites_remark(top, remark, sizeof remark) != '\0') {
        fputs("# ", stdout);
        printable_put(stdout, remark);
        putchar('\n');
    }
    puts("#\n#   Own    Total    Calls/s  Pending  Longest ms  Delay ms  Site");
}

bool top_sites_print(const struct top_sites *top, size_t rows, bool color)
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
        printf(" %10.1f %8u %11.3f %9.3f  ", row->rate, (unsigned)row->pending,
               row->longest_ms, row->delay_ms);
        printable_put(stdout, row->name);
        putchar('\n');
    }
    if (top->count > rows) {
        top_print_percent(rest, color);
        printf("%53sin %zu more sites\n", "", top->count - rows);
    }
    putchar('\n');
    return fflush(stdout) == 0;
}
