/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_KEYS_H
#define TOP_KEYS_H

/* What the user of top is looking at, and what each key does to it. Knows
 * nothing of screens: whoever reads a key gives it as an enum top_key or as
 * the byte that was typed. */

#include "top_rows.h"

#define TOP_TEXT_MAX 128
#define TOP_ZOOMS_MAX 32 /* functions on the way back */

enum top_key {
    TOP_KEY_ENTER = '\n',
    TOP_KEY_ESCAPE = 27,
    TOP_KEY_ERASE = 127,
    TOP_KEY_UP = 256,
    TOP_KEY_DOWN,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_END,
    TOP_KEY_LEFT,
    TOP_KEY_RIGHT,
};

struct top_ui {
    enum top_sort sort;
    bool since_reset; /* shares since then, not of the last seconds */
    bool no_idle;     /* the idle CPU is no row */
    bool paused;
    bool help;
    bool quit;
    bool reset; /* asked for; whoever does it takes it back */

    bool typing;               /* a filter */
    char typed[TOP_TEXT_MAX];  /* so far */
    char filter[TOP_TEXT_MAX]; /* in force, "" = none */
    regex_t regex;             /* it, compiled */
    bool has_regex;
    char problem[TOP_TEXT_MAX]; /* with what was typed, "" = none */

    /* functions that were zoomed into, the last one is looked at */
    char *zooms[TOP_ZOOMS_MAX];
    size_t zoom_count;

    /* the list as it was last shown */
    const struct top_row *rows;
    size_t count;
    size_t page;     /* rows that fit on the screen, 1 or more */
    size_t selected; /* below count, or 0 */
    size_t first;    /* row at the top of the screen */
    bool moved;      /* the user has chosen a row: it stays chosen */
};

/* Does what (key) says. */
void top_key(struct top_ui *ui, int key);

/* Takes (text) as the filter; false, with ui->problem, if it is none. */
bool top_filter(struct top_ui *ui, const char *text);

/* Takes the list that is shown from now on; the row that the user chose stays
 * chosen. The rows before must still be there. */
void top_take(struct top_ui *ui, const struct top_row *rows, size_t count);

/* The function that is looked at, NULL = all of them. */
const char *top_zoomed(const struct top_ui *ui);

void top_ui_free(struct top_ui *ui);

#endif
