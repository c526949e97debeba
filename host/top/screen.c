/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screen of top. The facts are the rate, the idle share and losses; the
 * state is also the zoomed function.
 *
 * A narrow screen omits, in this order, the bar, the samples per second and the
 * total, and shortens the rest: the name of a function and its share are always
 * shown. Colours repeat what the numbers say.
 */

#include "top/screen.h"

#include "base/number.h"
#include "base/path.h"
#include "top/parts.h"
#include "trace/metadata.h"

#include <stdio.h>
#include <string.h>

#define BAR_COLUMNS 76  /* screens from there on have bars, */
#define RATE_COLUMNS 58 /* and samples per second */

static void put_title(const struct top_model *top, const char *title)
{
    const struct model *model = &top->live->model;
    char text[PARTS_LINE_BYTES];
    size_t used;

    snprintf(text, sizeof text, " %s", path_name(title));
    used = strlen(text);
    if (model->hello.version != 0 && COLS >= PARTS_TOTAL_COLUMNS)
        snprintf(text + used, sizeof text - used, "  %s",
                 metadata_arch(&model->hello));
    used = strlen(text);
    if (COLS >= RATE_COLUMNS)
        snprintf(text + used, sizeof text - used, "  %g Hz  %u callers",
                 model->rate_mhz / 1000.0, (unsigned)model->depth);
    parts_title(text, top->boots, top_model_seconds(top));
}

static void put_facts(const struct top_model *top, const struct top_ui *ui)
{
    char text[PARTS_LINE_BYTES];
    char lost[NUMBER_TEXT_MAX], missed[NUMBER_TEXT_MAX];
    bool wide = COLS >= RATE_COLUMNS;
    attr_t look =
        screen_look(top_model_lost(top) > 0 ? SCREEN_BAD : SCREEN_PLAIN);

    snprintf(text, sizeof text,
             wide ? " %.0f samples/s   %.1f %% idle   %.1f %% stolen   %s lost"
                    "   %s missed"
                  : " %.0f/s  %.1f %% idle  %.1f %% stolen  %s lost",
             top_model_rate(top), top->idle, top_model_stolen(top),
             number_count(top_model_lost(top), lost),
             number_count(top_model_missed(top), missed));
    parts_facts(look, text, wide, ui);
}

static void put_state(const struct top_model *top, const struct top_ui *ui)
{
    char text[PARTS_LINE_BYTES] = "";
    bool bad = parts_problem(top->live, top->boots, ui);

    if (top_zoomed(ui) != NULL)
        snprintf(text, sizeof text, " %s  %.2f %% self  %.2f %% total",
                 top_zoomed(ui), top->zoomed.self, top->zoomed.total);
    else if (ui->filter[0] != '\0')
        snprintf(text, sizeof text, " only /%s/", ui->filter);
    else if (top->warms_up)
        snprintf(text, sizeof text, " warming up: %s", TOP_WARMS_UP);
    if (!bad)
        parts_state(A_NORMAL, text, ui);
}

static void put_columns(const struct top_ui *ui)
{
    bool calls = top_zoomed(ui) != NULL;
    char text[PARTS_LINE_BYTES];

    snprintf(text, sizeof text, " %6s%s%s  %s",
             calls                     ? "Share"
             : ui->sort == TOP_BY_SELF ? "*Self"
                                       : "Self",
             COLS < PARTS_TOTAL_COLUMNS || calls ? ""
             : ui->sort == TOP_BY_TOTAL          ? "   *Total"
                                                 : "    Total",
             COLS < RATE_COLUMNS ? "" : "  Samples/s",
             ui->sort == TOP_BY_NAME ? "*Function" : "Function");
    screen_line(PARTS_COLUMNS, A_UNDERLINE, text);
}

static void put_row(int y, const struct top_row *row, const struct top_ui *ui)
{
    static const char *const signs[] = {
        [TOP_ROW] = "", [TOP_CALLER] = "<- ", [TOP_CALLEE] = "-> "};
    char rate[32] = "";

    if (COLS >= RATE_COLUMNS)
        snprintf(rate, sizeof rate, "%11.1f", row->rate);
    parts_row(
        y,
        &(struct parts_row){
            .row = row,
            .middle = rate,
            .sign = signs[row->kind],
            .has_total = COLS >= PARTS_TOTAL_COLUMNS && row->kind == TOP_ROW,
            .has_bar = COLS >= BAR_COLUMNS,
        },
        ui);
}

static void put_rows(const struct top_ui *ui)
{
    parts_rows(ui, put_row);
    if (ui->count == 0 && top_zoomed(ui) != NULL)
        screen_line(PARTS_ROWS, A_DIM, " no recent callers or callees");
}

static void put_help(void)
{
    static const char *const lines[] = {
        "Enter            show callers (<-), callees (->)",
        "Esc Backspace    go back",
        "s t n            sort by self, total, name",
        "/                filter names by a regex",
        "i                show or hide the idle CPU",
    };

    parts_help(lines, sizeof lines / sizeof lines[0]);
}

static void put_keys(const struct top_ui *ui)
{
    parts_keys(ui, COLS >= BAR_COLUMNS,
               " ? help  Enter callers, callees  s t n sort  / filter  "
               "w window  p pause  r reset  q quit",
               " ? help  Enter zoom  / filter  q quit");
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
    else if (!top->warms_up)
        put_rows(ui);
    put_keys(ui);
    refresh();
}
