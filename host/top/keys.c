/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of top, and what each key does. */

#define _GNU_SOURCE /* qsort_r() */

#include "top/keys.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- the rows */

static int compare_falling(double left, double right)
{
    return (left < right) - (left > right);
}

static double number_of(const struct top_row *row, enum top_sort sort)
{
    switch (sort) {
    case TOP_BY_TOTAL:
        return row->total;
    case TOP_BY_LONGEST:
        return row->longest_ms;
    case TOP_BY_DELAY:
        return row->delay_ms;
    case TOP_BY_CALLS:
        return row->rate;
    case TOP_BY_PENDING:
        return row->pending;
    default:
        return row->self;
    }
}

/* Equal rows are sorted by self, total and name, so that their order is
 * stable. */
static int compare_rows(const void *left, const void *right, void *context)
{
    const struct top_row *a = left, *b = right;
    enum top_sort first = *(const enum top_sort *)context;
    const enum top_sort sorts[] = {first, TOP_BY_SELF, TOP_BY_TOTAL};
    int order = (int)a->kind - (int)b->kind;

    for (size_t i = 0; i < 3 && order == 0 && first != TOP_BY_NAME; ++i)
        order = compare_falling(number_of(a, sorts[i]), number_of(b, sorts[i]));
    return order != 0 ? order : strcmp(a->name, b->name);
}

void top_rows_sort(struct top_row *rows, size_t count, enum top_sort sort)
{
    if (count > 0)
        qsort_r(rows, count, sizeof *rows, compare_rows, &sort);
}

size_t top_rows_filter(struct top_row *rows, size_t count, const regex_t *regex,
                       bool idle)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; ++i) {
        if ((idle || strcmp(rows[i].name, TOP_IDLE) != 0) &&
            (regex == NULL || regexec(regex, rows[i].name, 0, NULL, 0) == 0))
            rows[kept++] = rows[i];
    }
    return kept;
}

/* The number of the row (name) of that (kind), or (count). */
static size_t find_row(const struct top_row *rows, size_t count,
                       enum top_kind kind, const char *name)
{
    size_t i = 0;

    while (i < count &&
           (rows[i].kind != kind || strcmp(rows[i].name, name) != 0))
        ++i;
    return i;
}

/* ---- keys */

const char *top_zoomed(const struct top_ui *ui)
{
    return ui->zoom_count > 0 ? ui->zooms[ui->zoom_count - 1] : NULL;
}

/* Scrolls so that the selected row is visible and no space is wasted. */
static void scroll_list(struct top_ui *ui)
{
    if (ui->selected >= ui->count)
        ui->selected = ui->count > 0 ? ui->count - 1 : 0;
    if (ui->first + ui->page > ui->count)
        ui->first = ui->count > ui->page ? ui->count - ui->page : 0;
    if (ui->selected < ui->first)
        ui->first = ui->selected;
    if (ui->selected >= ui->first + ui->page)
        ui->first = ui->selected - ui->page + 1;
}

static void select_row(struct top_ui *ui, size_t row)
{
    ui->selected = row;
    ui->moved = row > 0;
    scroll_list(ui);
}

static void go_to_top(struct top_ui *ui)
{
    ui->selected = ui->first = 0;
    ui->moved = false;
}

void top_set_list(struct top_ui *ui, const struct top_row *rows, size_t count)
{
    if (ui->moved && ui->selected < ui->count) {
        const struct top_row *was = &ui->rows[ui->selected];
        size_t is = find_row(rows, count, was->kind, was->name);

        if (is < count)
            ui->selected = is;
    }
    ui->rows = rows;
    ui->count = count;
    scroll_list(ui);
}

/* Zooms to the callers and callees of the selected row. */
static void zoom_in(struct top_ui *ui)
{
    const char *name;

    if (ui->selected >= ui->count || ui->sites)
        return;
    name = ui->rows[ui->selected].name;
    if (top_zoomed(ui) != NULL && strcmp(top_zoomed(ui), name) == 0)
        return;
    if (ui->zoom_count == TOP_ZOOMS_MAX) {
        free(ui->zooms[0]);
        memmove(ui->zooms, ui->zooms + 1,
                (TOP_ZOOMS_MAX - 1) * sizeof *ui->zooms);
        --ui->zoom_count;
    }
    ui->zooms[ui->zoom_count++] = xstrdup(name);
    go_to_top(ui);
}

static void zoom_out(struct top_ui *ui)
{
    if (ui->zoom_count == 0)
        return;
    free(ui->zooms[--ui->zoom_count]);
    go_to_top(ui);
}

bool top_filter(struct top_ui *ui, const char *text)
{
    regex_t regex;
    int code = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);

    ui->problem[0] = '\0';
    if (code != 0) {
        regerror(code, &regex, ui->problem, sizeof ui->problem);
        return false;
    }
    if (ui->has_regex)
        regfree(&ui->regex);
    ui->regex = regex;
    ui->has_regex = *text != '\0';
    if (!ui->has_regex)
        regfree(&ui->regex);
    strncpy(ui->filter, text, sizeof ui->filter - 1);
    return true;
}

static void type_key(struct top_ui *ui, int key)
{
    size_t used = strlen(ui->typed);

    ui->problem[0] = '\0';
    switch (key) {
    case TOP_KEY_ENTER:
        ui->typing = !top_filter(ui, ui->typed);
        while (!ui->typing && ui->zoom_count > 0)
            zoom_out(ui);
        go_to_top(ui);
        break;
    case TOP_KEY_ESCAPE:
        ui->typing = false;
        break;
    case TOP_KEY_ERASE:
        while (used > 0 && (ui->typed[used - 1] & 0xc0) == 0x80)
            --used; /* the rest of a character of several bytes */
        ui->typed[used > 0 ? used - 1 : 0] = '\0';
        break;
    default:
        if (key >= ' ' && key < 256 && used + 1 < sizeof ui->typed) {
            ui->typed[used] = (char)key;
            ui->typed[used + 1] = '\0';
        }
        break;
    }
}

static bool move_selection(struct top_ui *ui, int key)
{
    size_t last = ui->count > 0 ? ui->count - 1 : 0;
    size_t left = last - (ui->selected < last ? ui->selected : last);

    switch (key) {
    case TOP_KEY_UP:
    case 'k':
        select_row(ui, ui->selected - (ui->selected > 0));
        break;
    case TOP_KEY_DOWN:
    case 'j':
        select_row(ui, ui->selected + (left > 0));
        break;
    case TOP_KEY_PAGE_UP:
        select_row(ui, ui->selected > ui->page ? ui->selected - ui->page : 0);
        break;
    case TOP_KEY_PAGE_DOWN:
        select_row(ui, ui->selected + (left < ui->page ? left : ui->page));
        break;
    case TOP_KEY_HOME:
        select_row(ui, 0);
        break;
    case TOP_KEY_END:
        select_row(ui, last);
        break;
    default:
        return false;
    }
    return true;
}

static bool choose_order(struct top_ui *ui, int key)
{
    static const struct {
        int key;
        enum top_sort sort;
    } keys[] = {
        {'s', TOP_BY_SELF},    {'t', TOP_BY_TOTAL}, {'n', TOP_BY_NAME},
        {'l', TOP_BY_LONGEST}, {'d', TOP_BY_DELAY}, {'c', TOP_BY_CALLS},
        {'e', TOP_BY_PENDING},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        if (keys[i].key == key &&
            (ui->sites || keys[i].sort < TOP_BY_LONGEST)) {
            ui->sort = keys[i].sort;
            go_to_top(ui);
            return true;
        }
    }
    return false;
}

/* Keys that change what is shown. */
static bool choose_view(struct top_ui *ui, int key)
{
    switch (key) {
    case '/':
        ui->typing = true;
        strcpy(ui->typed, ui->filter);
        break;
    case 'i':
        ui->no_idle = !ui->no_idle;
        break;
    case 'w':
        ui->since_reset = !ui->since_reset;
        break;
    case 'b':
        ui->next_cpu += !ui->sites;
        break;
    case TOP_KEY_ENTER:
    case TOP_KEY_RIGHT:
        zoom_in(ui);
        break;
    case TOP_KEY_ESCAPE:
    case TOP_KEY_ERASE:
    case TOP_KEY_LEFT:
        zoom_out(ui);
        break;
    default:
        return false;
    }
    return true;
}

void top_key(struct top_ui *ui, int key)
{
    if (ui->typing) {
        type_key(ui, key);
        return;
    }
    if (ui->help) {
        ui->help = false;
        ui->quit = key == 'q';
        return;
    }
    if (move_selection(ui, key) || choose_order(ui, key) ||
        choose_view(ui, key))
        return;
    switch (key) {
    case 'p':
    case ' ':
        ui->paused = !ui->paused;
        break;
    case 'r':
        ui->reset = true;
        break;
    case '?':
    case 'h':
        ui->help = true;
        break;
    case 'q':
        ui->quit = true;
        break;
    }
}

void top_ui_free(struct top_ui *ui)
{
    while (ui->zoom_count > 0)
        zoom_out(ui);
    if (ui->has_regex)
        regfree(&ui->regex);
}
