/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screen of top --loop. The facts say how busy the loop is, and with what;
 * the state is also the last freeze.
 *
 * A narrow screen omits the bar, then delays and longest runs, then pending
 * tasks and calls, then totals.
 */

#include "base/path.h"
#include "top/parts.h"
#include "top/sites.h"

#include <stdio.h>

#define BAR_COLUMNS 92   /* screens from there on have bars, */
#define LONG_COLUMNS 72  /* longest runs and delays, */
#define CALLS_COLUMNS 50 /* and calls and pending tasks */

static void put_title(const struct top_sites *top, const char *title)
{
    double hz = (double)top->occupancy.tsc_hz;
    char text[PARTS_LINE_BYTES];

    snprintf(text, sizeof text, " %s  event loop", path_name(title));
    parts_title(text, top->boots,
                hz > 0 ? (double)top->last.account.wall / hz : 0.0);
}

static void put_facts(const struct top_sites *top, const struct top_ui *ui)
{
    bool wide = COLS >= LONG_COLUMNS;
    char text[PARTS_LINE_BYTES];

    if (wide)
        snprintf(text, sizeof text,
                 " %.1f %% busy   %.1f %% tasks   %.1f %% callbacks   %.1f %% "
                 "interrupts",
                 top_sites_busy(top), top_sites_part(top, OCCUPANCY_TASKS),
                 top_sites_part(top, OCCUPANCY_CALLBACKS),
                 top_sites_part(top, OCCUPANCY_INTERRUPTS));
    else
        snprintf(text, sizeof text, " %.1f %% busy  %.1f %% tasks",
                 top_sites_busy(top), top_sites_part(top, OCCUPANCY_TASKS));
    parts_facts(screen_look(SCREEN_PLAIN), text, wide, ui);
}

static void put_state(const struct top_sites *top, const struct top_ui *ui)
{
    char text[PARTS_LINE_BYTES] = "", remark[PARTS_LINE_BYTES - 2];
    bool has_filter = ui->filter[0] != '\0';

    if (parts_problem(top->live, top->boots, ui))
        return;
    if (has_filter)
        snprintf(text, sizeof text, " only /%s/", ui->filter);
    else if (top_sites_warm_up(top))
        snprintf(text, sizeof text, " warming up: %s", top_sites_silence(top));
    else if (*top_sites_remark(top, remark, sizeof remark) != '\0')
        snprintf(text, sizeof text, " %s", remark);
    parts_state(has_filter ? A_NORMAL : screen_look(SCREEN_BAD), text, ui);
}

static void put_columns(const struct top_ui *ui)
{
    enum top_sort sort = ui->sort;
    char text[PARTS_LINE_BYTES];

    snprintf(text, sizeof text, " %6s%s%s%s%s%s  %s",
             sort == TOP_BY_SELF ? "*Own" : "Own",
             COLS < PARTS_TOTAL_COLUMNS ? ""
             : sort == TOP_BY_TOTAL     ? "   *Total"
                                        : "    Total",
             COLS < CALLS_COLUMNS   ? ""
             : sort == TOP_BY_CALLS ? "   *Calls/s"
                                    : "    Calls/s",
             COLS < CALLS_COLUMNS     ? ""
             : sort == TOP_BY_PENDING ? " *Pending"
                                      : "  Pending",
             COLS < LONG_COLUMNS      ? ""
             : sort == TOP_BY_LONGEST ? " *Longest ms"
                                      : "  Longest ms",
             COLS < LONG_COLUMNS    ? ""
             : sort == TOP_BY_DELAY ? " *Delay ms"
                                    : "  Delay ms",
             sort == TOP_BY_NAME ? "*Site" : "Site");
    screen_line(PARTS_COLUMNS, A_UNDERLINE, text);
}

static void put_row(int y, const struct top_row *row, const struct top_ui *ui)
{
    char text[64] = "";
    size_t used = 0;

    if (COLS >= CALLS_COLUMNS)
        used = (size_t)snprintf(text, sizeof text, "%11.1f%9u", row->rate,
                                (unsigned)row->pending);
    if (COLS >= LONG_COLUMNS)
        snprintf(text + used, sizeof text - used, "%12.3f%10.3f",
                 row->longest_ms, row->delay_ms);
    parts_row(y,
              &(struct parts_row){
                  .row = row,
                  .middle = text,
                  .sign = "",
                  .has_total = COLS >= PARTS_TOTAL_COLUMNS,
                  .has_bar = COLS >= BAR_COLUMNS,
              },
              ui);
}

static void put_help(void)
{
    static const char *const lines[] = {
        "s t n            sort by own time, total, name",
        "l d              by longest run, by delay from wake to run",
        "c e              by calls, by pending tasks",
        "/                filter names by a regex",
    };

    parts_help(lines, sizeof lines / sizeof lines[0]);
}

static void put_keys(const struct top_ui *ui)
{
    parts_keys(ui, COLS >= LONG_COLUMNS,
               " ? help  s t l d c e n sort  / filter  w window  p pause  "
               "r reset  q quit",
               " ? help  / filter  q quit");
}

void top_sites_draw(const struct top_sites *top, const struct top_ui *ui,
                    const char *title)
{
    erase();
    put_title(top, title);
    put_facts(top, ui);
    put_state(top, ui);
    put_columns(ui);
    if (ui->help)
        put_help();
    else
        parts_rows(ui, put_row);
    put_keys(ui);
    refresh();
}
