/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screen of top, from above:
 *
 *     title          which guest, how long, which boot
 *     facts          rate, idle share, losses
 *     state          the filter being typed, an error, or the zoomed function
 *     columns
 *     rows ...
 *     keys
 *
 * A narrow screen omits, in this order, the bar, the samples per second and the
 * total, and shortens the rest: the name of a function and its share are always
 * shown. Colours repeat what the numbers say.
 */

#include "top/screen.h"

#include "base/log.h"
#include "base/number.h"
#include "top/terminal.h"
#include "trace/metadata.h"

#include <stdio.h>
#include <string.h>

#define HEAD_LINES 4
#define FOOT_LINES 1
#define BAR_CELLS 12
#define BAR_COLUMNS 76   /* screens from there on have bars, */
#define RATE_COLUMNS 58  /* samples per second, */
#define TOTAL_COLUMNS 34 /* and totals */
#define LINE_MAX_BYTES 1024

size_t top_screen_page(void)
{
    int rows = LINES - HEAD_LINES - FOOT_LINES;

    return rows > 0 ? (size_t)rows : 1;
}

static void put_title(const struct top_model *top, const char *title)
{
    const struct model *model = &top->live->model;
    char left[LINE_MAX_BYTES], right[64] = "";
    const char *slash = strrchr(title, '/');
    size_t used;

    snprintf(left, sizeof left, " %s", slash != NULL ? slash + 1 : title);
    used = strlen(left);
    if (model->hello.version != 0 && COLS >= TOTAL_COLUMNS)
        snprintf(left + used, sizeof left - used, "  %s",
                 metadata_arch(&model->hello));
    used = strlen(left);
    if (COLS >= RATE_COLUMNS)
        snprintf(left + used, sizeof left - used, "  %g Hz  %u callers",
                 model->rate_mhz / 1000.0, (unsigned)model->depth);
    if (top->boots > 1)
        snprintf(right, sizeof right, "boot %u  ", top->boots);
    used = strlen(right);
    snprintf(right + used, sizeof right - used, "%.1f s",
             top_model_seconds(top));
    screen_ends(0, A_REVERSE, left, right);
}

static void put_facts(const struct top_model *top, const struct top_ui *ui)
{
    char left[LINE_MAX_BYTES], lost[NUMBER_TEXT_MAX], missed[NUMBER_TEXT_MAX];
    bool wide = COLS >= RATE_COLUMNS;
    attr_t look =
        screen_look(top_model_lost(top) > 0 ? SCREEN_BAD : SCREEN_PLAIN);

    snprintf(left, sizeof left,
             wide ? " %.0f samples/s   %.1f %% idle   %.1f %% stolen   %s lost"
                    "   %s missed"
                  : " %.0f/s  %.1f %% idle  %.1f %% stolen  %s lost",
             top_model_rate(top), top->idle, top_model_stolen(top),
             number_count(top_model_lost(top), lost),
             number_count(top_model_missed(top), missed));
    screen_ends(1, look, left,
                !wide             ? ""
                : ui->since_reset ? "since the reset"
                                  : "recent");
}

static void put_state(const struct top_model *top, const struct top_ui *ui)
{
    char text[LINE_MAX_BYTES] = "";
    attr_t bad = screen_look(SCREEN_BAD);

    if (ui->typing && ui->problem[0] != '\0')
        snprintf(text, sizeof text, " /%s_  %s", ui->typed, ui->problem);
    else if (ui->typing)
        snprintf(text, sizeof text, " /%s_", ui->typed);
    else if (top->live->why[0] != '\0')
        snprintf(text, sizeof text, " %s", top->live->why);
    else if (top->boots == 0)
        snprintf(text, sizeof text, " %s", live_silence(top->live));
    else if (log_last()[0] != '\0')
        snprintf(text, sizeof text, " %s", log_last());
    else
        bad = A_NORMAL;
    if (bad == A_NORMAL && top_zoomed(ui) != NULL)
        snprintf(text, sizeof text, " %s  %.2f %% self  %.2f %% total",
                 top_zoomed(ui), top->zoomed.self, top->zoomed.total);
    else if (bad == A_NORMAL && ui->filter[0] != '\0')
        snprintf(text, sizeof text, " only /%s/", ui->filter);
    screen_ends(2, bad, text, ui->paused ? "PAUSED" : "");
}

static void put_columns(const struct top_ui *ui)
{
    bool calls = top_zoomed(ui) != NULL;
    char text[LINE_MAX_BYTES];

    snprintf(text, sizeof text, " %6s%s%s  %s",
             calls                     ? "Share"
             : ui->sort == TOP_BY_SELF ? "*Self"
                                       : "Self",
             COLS < TOTAL_COLUMNS || calls ? ""
             : ui->sort == TOP_BY_TOTAL    ? "   *Total"
                                           : "    Total",
             COLS < RATE_COLUMNS ? "" : "  Samples/s",
             ui->sort == TOP_BY_NAME ? "*Function" : "Function");
    screen_line(3, A_UNDERLINE, text);
}

static void put_row(int y, const struct top_row *row, bool selected,
                    bool by_total)
{
    static const char *const signs[] = {
        [TOP_ROW] = "", [TOP_CALLER] = "<- ", [TOP_CALLEE] = "-> "};
    attr_t chosen = selected ? A_REVERSE : A_NORMAL;
    bool bar = COLS >= BAR_COLUMNS;
    char text[32];
    int room;

    screen_line(y, chosen, "");
    snprintf(text, sizeof text, "%6.2f%%", row->self);
    attrset(screen_heat(row->self) | chosen);
    move(y, 0);
    screen_text(text, COLS);
    if (COLS >= TOTAL_COLUMNS && row->kind == TOP_ROW) {
        snprintf(text, sizeof text, "%8.2f%%", row->total);
        attrset(screen_heat(row->total) | chosen);
        screen_text(text, COLS);
    }
    attrset(chosen);
    if (COLS >= RATE_COLUMNS) {
        snprintf(text, sizeof text, "%11.1f", row->rate);
        screen_text(text, COLS);
    }
    screen_text("  ", COLS);
    screen_text(signs[row->kind], COLS);
    room = COLS - getcurx(stdscr) - (bar ? BAR_CELLS + 2 : 0);
    screen_text(row->name, room);
    attrset(screen_heat(by_total ? row->total : row->self) | chosen);
    if (bar)
        screen_bar(y, by_total ? row->total : row->self, BAR_CELLS);
    attrset(A_NORMAL);
}

static void put_rows(const struct top_ui *ui)
{
    for (size_t i = 0; i < ui->page && ui->first + i < ui->count; ++i)
        put_row(HEAD_LINES + (int)i, &ui->rows[ui->first + i],
                ui->first + i == ui->selected, ui->sort == TOP_BY_TOTAL);
    if (ui->count == 0 && top_zoomed(ui) != NULL)
        screen_line(HEAD_LINES, A_DIM, " no recent callers or callees");
}

static void put_help(void)
{
    static const char *const lines[] = {
        "up down j k      select a row",
        "PgUp PgDn        scroll by pages; Home, End",
        "Enter            show callers (<-), callees (->)",
        "Esc Backspace    go back",
        "s t n            sort by self, total, name",
        "/                filter names by a regex",
        "i                show or hide the idle CPU",
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
    const char *text =
        ui->typing            ? " Enter applies the filter  Esc cancels"
        : COLS >= BAR_COLUMNS ? " ? help  Enter callers, callees  s t n sort  "
                                "/ filter  w window  "
                                "p pause  r reset  q quit"
        : COLS >= TOTAL_COLUMNS ? " ? help  Enter zoom  / filter  q quit"
                                : " ? help  q quit";

    screen_line(LINES - 1, A_REVERSE, text);
}

void top_screen_draw(const struct top_model *top, const struct top_ui *ui,
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
        put_rows(ui);
    put_keys(ui);
    refresh();
}
