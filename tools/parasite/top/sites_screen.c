/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screen of top --loop, from above:
 *
 *     title          which guest, how long, which boot
 *     facts          how busy the loop is, and with what
 *     state          the filter being typed, an error, or the last freeze
 *     columns
 *     rows ...
 *     keys
 *
 * A narrow screen omits the bar, then delays and longest runs, then pending
 * tasks and calls, then totals.
 */

#include "base/log.h"
#include "top/screen.h"
#include "top/sites.h"
#include "top/terminal.h"

#include <prof/format.h>
#include <stdio.h>
#include <string.h>

#define HEAD_LINES 4
#define FOOT_LINES 1
#define BAR_CELLS 12
#define BAR_COLUMNS 92   /* screens from there on have bars, */
#define LONG_COLUMNS 72  /* longest runs and delays, */
#define CALLS_COLUMNS 50 /* calls and pending tasks, */
#define TOTAL_COLUMNS 34 /* and totals */
#define LINE_MAX_BYTES 1024

static void put_title(const struct top_sites *top, const char *title)
{
    const struct occupancy_snapshot *last = &top->last;
    double hz = (double)top->occupancy.tsc_hz;
    char left[LINE_MAX_BYTES], right[64] = "";
    const char *slash = strrchr(title, '/');
    size_t used;

    snprintf(left, sizeof left, " %s  event loop",
             slash != NULL ? slash + 1 : title);
    if (top->boots > 1)
        snprintf(right, sizeof right, "boot %u  ", top->boots);
    used = strlen(right);
    snprintf(right + used, sizeof right - used, "%.1f s",
             hz > 0 ? (double)last->account.wall / hz : 0.0);
    screen_ends(0, A_REVERSE, left, right);
}

static void put_facts(const struct top_sites *top, const struct top_ui *ui)
{
    bool wide = COLS >= LONG_COLUMNS;
    char left[LINE_MAX_BYTES];

    if (wide)
        snprintf(left, sizeof left,
                 " %.1f %% busy   %.1f %% tasks   %.1f %% callbacks   %.1f %% "
                 "interrupts",
                 top_sites_busy(top), top_sites_part(top, OCCUPANCY_TASKS),
                 top_sites_part(top, OCCUPANCY_CALLBACKS),
                 top_sites_part(top, OCCUPANCY_INTERRUPTS));
    else
        snprintf(left, sizeof left, " %.1f %% busy  %.1f %% tasks",
                 top_sites_busy(top), top_sites_part(top, OCCUPANCY_TASKS));
    screen_ends(1, screen_look(SCREEN_PLAIN), left,
                !wide             ? ""
                : ui->since_reset ? "since the reset"
                                  : "recent");
}

static void put_state(const struct top_sites *top, const struct top_ui *ui)
{
    char text[LINE_MAX_BYTES] = "", remark[LINE_MAX_BYTES - 2];
    attr_t bad = screen_look(SCREEN_BAD);

    if (ui->typing)
        snprintf(text, sizeof text, " /%s_  %s", ui->typed, ui->problem);
    else if (top->live->why[0] != '\0')
        snprintf(text, sizeof text, " %s", top->live->why);
    else if (top->boots == 0)
        snprintf(text, sizeof text, " %s", live_silence(top->live));
    else if (log_last()[0] != '\0')
        snprintf(text, sizeof text, " %s", log_last());
    else if (ui->filter[0] != '\0')
        snprintf(text, sizeof text, " only /%s/", ui->filter);
    else if (*top_sites_remark(top, remark, sizeof remark) != '\0')
        snprintf(text, sizeof text, " %s", remark);
    if (!ui->typing && ui->filter[0] != '\0')
        bad = A_NORMAL;
    screen_ends(2, bad, text, ui->paused ? "PAUSED" : "");
}

static void put_columns(const struct top_ui *ui)
{
    enum top_sort sort = ui->sort;
    char text[LINE_MAX_BYTES];

    snprintf(text, sizeof text, " %6s%s%s%s%s%s  %s",
             sort == TOP_BY_SELF ? "*Own" : "Own",
             COLS < TOTAL_COLUMNS   ? ""
             : sort == TOP_BY_TOTAL ? "   *Total"
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
    screen_line(3, A_UNDERLINE, text);
}

static void put_row(int y, const struct top_row *row, bool selected,
                    bool by_total)
{
    attr_t chosen = selected ? A_REVERSE : A_NORMAL;
    bool bar = COLS >= BAR_COLUMNS;
    char text[64];

    screen_line(y, chosen, "");
    snprintf(text, sizeof text, "%6.2f%%", row->self);
    attrset(screen_heat(row->self) | chosen);
    move(y, 0);
    screen_text(text, COLS);
    if (COLS >= TOTAL_COLUMNS) {
        snprintf(text, sizeof text, "%8.2f%%", row->total);
        attrset(screen_heat(row->total) | chosen);
        screen_text(text, COLS);
    }
    attrset(chosen);
    if (COLS >= CALLS_COLUMNS) {
        snprintf(text, sizeof text, "%11.1f%9u", row->rate,
                 (unsigned)row->pending);
        screen_text(text, COLS);
    }
    if (COLS >= LONG_COLUMNS) {
        snprintf(text, sizeof text, "%12.3f%10.3f", row->longest_ms,
                 row->delay_ms);
        screen_text(text, COLS);
    }
    screen_text("  ", COLS);
    screen_text(row->name, COLS - getcurx(stdscr) - (bar ? BAR_CELLS + 2 : 0));
    attrset(screen_heat(by_total ? row->total : row->self) | chosen);
    if (bar)
        screen_bar(y, by_total ? row->total : row->self, BAR_CELLS);
    attrset(A_NORMAL);
}

static void put_help(void)
{
    static const char *const lines[] = {
        "up down j k      select a row",
        "PgUp PgDn        scroll by pages; Home, End",
        "s t n            sort by own time, total, name",
        "l d              by longest run, by delay from wake to run",
        "c e              by calls, by pending tasks",
        "/                filter names by a regex",
        "w                recent shares, or since reset",
        "p Space          pause",
        "r                reset",
        "? h              this help; any key closes it",
        "q Ctrl-C         quit",
    };

    for (int i = 0; i < (int)(sizeof lines / sizeof lines[0]); ++i) {
        move(HEAD_LINES + i, 1);
        if (HEAD_LINES + i < LINES - FOOT_LINES)
            screen_text(lines[i], COLS);
    }
}

static void put_keys(const struct top_ui *ui)
{
    const char *text = ui->typing ? " Enter applies the filter  Esc cancels"
                       : COLS >= LONG_COLUMNS
                           ? " ? help  s t l d c e n sort  / filter  "
                             "w window  p pause  r reset  q quit"
                       : COLS >= TOTAL_COLUMNS ? " ? help  / filter  q quit"
                                               : " ? help  q quit";

    screen_line(LINES - 1, A_REVERSE, text);
}

void top_sites_draw(const struct top_sites *top, const struct top_ui *ui,
                    const char *title)
{
    erase();
    put_title(top, title);
    put_facts(top, ui);
    put_state(top, ui);
    put_columns(ui);
    for (size_t i = 0; i < ui->page && ui->first + i < ui->count && !ui->help;
         ++i)
        put_row(HEAD_LINES + (int)i, &ui->rows[ui->first + i],
                ui->first + i == ui->selected, ui->sort == TOP_BY_TOTAL);
    if (ui->help)
        put_help();
    put_keys(ui);
    refresh();
}
