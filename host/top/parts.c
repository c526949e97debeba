/* SPDX-License-Identifier: Apache-2.0 */
/* What the screens of top have in common. */

#include "top/parts.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

#define FOOT_LINES 1
#define BAR_CELLS 12

size_t parts_page(void)
{
    int rows = LINES - PARTS_ROWS - FOOT_LINES;

    return rows > 0 ? (size_t)rows : 1;
}

void parts_title(const char *left, unsigned boots, double seconds)
{
    char right[64] = "";
    size_t used;

    if (boots > 1)
        snprintf(right, sizeof right, "boot %u  ", boots);
    used = strlen(right);
    snprintf(right + used, sizeof right - used, "%.1f s", seconds);
    screen_ends(0, A_REVERSE, left, right);
}

void parts_facts(attr_t look, const char *text, bool wide,
                 const struct top_ui *ui)
{
    screen_ends(1, look, text,
                !wide             ? ""
                : ui->since_reset ? "since the reset"
                                  : "recent");
}

void parts_state(attr_t look, const char *text, const struct top_ui *ui)
{
    screen_ends(2, look, text, ui->paused ? "PAUSED" : "");
}

bool parts_problem(struct live *live, unsigned boots, const struct top_ui *ui)
{
    char text[PARTS_LINE_BYTES];

    if (ui->typing)
        snprintf(text, sizeof text, " /%s_%s%s", ui->typed,
                 ui->problem[0] != '\0' ? "  " : "", ui->problem);
    else if (live->why[0] != '\0')
        snprintf(text, sizeof text, " %s", live->why);
    else if (boots == 0)
        snprintf(text, sizeof text, " %s", live_silence(live));
    else if (log_last()[0] != '\0')
        snprintf(text, sizeof text, " %s", log_last());
    else
        return false;
    parts_state(screen_look(SCREEN_BAD), text, ui);
    return true;
}

void parts_row(int y, const struct parts_row *row, const struct top_ui *ui)
{
    const struct top_row *of = row->row;
    attr_t chosen = of == &ui->rows[ui->selected] ? A_REVERSE : A_NORMAL;
    double share = ui->sort == TOP_BY_TOTAL ? of->total : of->self;
    char text[32];

    screen_line(y, chosen, "");
    snprintf(text, sizeof text, "%6.2f%%", of->self);
    attrset(screen_heat(of->self) | chosen);
    move(y, 0);
    screen_text(text, COLS);
    if (row->has_total) {
        snprintf(text, sizeof text, "%8.2f%%", of->total);
        attrset(screen_heat(of->total) | chosen);
        screen_text(text, COLS);
    }
    attrset(chosen);
    screen_text(row->middle, COLS);
    screen_text("  ", COLS);
    screen_text(row->sign, COLS);
    screen_text(of->name,
                COLS - getcurx(stdscr) - (row->has_bar ? BAR_CELLS + 2 : 0));
    attrset(screen_heat(share) | chosen);
    if (row->has_bar)
        screen_bar(y, share, BAR_CELLS);
    attrset(A_NORMAL);
}

void parts_rows(const struct top_ui *ui, parts_put *put)
{
    for (size_t i = 0; i < ui->page && ui->first + i < ui->count; ++i)
        put(PARTS_ROWS + (int)i, &ui->rows[ui->first + i], ui);
}

static int put_lines(int y, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; ++i, ++y) {
        move(y, 1);
        if (y < LINES - FOOT_LINES)
            screen_text(lines[i], COLS);
    }
    return y;
}

void parts_help(const char *const *lines, size_t count)
{
    static const char *const first[] = {
        "up down j k      select a row",
        "PgUp PgDn        scroll by pages; Home, End",
    };
    static const char *const last[] = {
        "w                recent shares, or since reset",
        "p Space          pause",
        "r                reset",
        "? h              this help; any key closes it",
        "q Ctrl-C         quit",
    };
    int y = put_lines(PARTS_ROWS, first, sizeof first / sizeof first[0]);

    y = put_lines(y, lines, count);
    put_lines(y, last, sizeof last / sizeof last[0]);
}

void parts_keys(const struct top_ui *ui, bool wide, const char *text,
                const char *shorter)
{
    screen_line(LINES - FOOT_LINES, A_REVERSE,
                ui->typing ? " Enter applies the filter  Esc cancels"
                : wide     ? text
                : COLS >= PARTS_TOTAL_COLUMNS ? shorter
                                              : " ? help  q quit");
}
