/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_KEYS_H
#define TOP_KEYS_H

/* The list that top shows, of functions or sites, and what each key does to it:
 * an enum top_key, or the byte that was typed. Independent of terminals. */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum top_kind {
    TOP_ROW,    /* a function or site */
    TOP_CALLER, /* of the function zoomed into */
    TOP_CALLEE,
};

struct top_row {
    enum top_kind kind;
    const char *name;
    double self; /* percent; of a caller or callee, that call's */
    double total;
    double rate; /* samples a second, self; tasks created a second */

    /* of sites only */
    double longest_ms; /* run since the guest's reset */
    double delay_ms;   /* from wake to run, mean */
    uint32_t pending;  /* tasks that have not ended */
};

enum top_sort {
    TOP_BY_SELF,
    TOP_BY_TOTAL,
    TOP_BY_NAME,
    TOP_BY_LONGEST, /* from here on of sites only */
    TOP_BY_DELAY,
    TOP_BY_CALLS,
    TOP_BY_PENDING,
    TOP_SORTS,
};

/* Sorts; callers come before callees in any order. */
void top_rows_sort(struct top_row *rows, size_t count, enum top_sort sort);

/* Keeps the rows whose name matches (regex), NULL = all; without (idle), the
 * idle CPU is left out. Returns how many are left. */
size_t top_rows_filter(struct top_row *rows, size_t count, const regex_t *regex,
                       bool idle);

#define TOP_IDLE "[idle]"

#define TOP_TEXT_MAX 128
#define TOP_ZOOMS_MAX 32 /* functions to go back to */

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
    bool sites; /* rows are sites of tasks, and have more orders */
    enum top_sort sort;
    bool since_reset; /* shares since then, not of the last seconds */
    bool no_idle;     /* hide the idle CPU */
    bool has_cpu;     /* functions of (cpu) alone */
    uint32_t cpu;
    unsigned next_cpu; /* how often it was asked for; counted down by the code
                          that does it */
    bool paused;
    bool help;
    bool quit;
    bool reset; /* requested; cleared by the code that does it */

    bool typing;               /* a filter */
    char typed[TOP_TEXT_MAX];  /* the filter being typed */
    char filter[TOP_TEXT_MAX]; /* the active filter, "" = none */
    regex_t regex;             /* (filter), compiled */
    bool has_regex;
    char problem[TOP_TEXT_MAX]; /* with the typed filter, "" = none */

    /* functions zoomed into, the last one is shown */
    char *zooms[TOP_ZOOMS_MAX];
    size_t zoom_count;

    /* the list as last shown */
    const struct top_row *rows;
    size_t count;
    size_t page;     /* rows that fit on the screen, 1 or more */
    size_t selected; /* below count, or 0 */
    size_t first;    /* row at the top of the screen */
    bool moved;      /* the user selected a row, which stays selected */
};

/* Handles (key). */
void top_key(struct top_ui *ui, int key);

/* Sets the filter (text); returns false, with ui->problem, if it is invalid. */
bool top_filter(struct top_ui *ui, const char *text);

/* Replaces the list; the row that the user selected stays selected. The rows
 * before must still exist. */
void top_set_list(struct top_ui *ui, const struct top_row *rows, size_t count);

/* The function zoomed into, NULL = all functions. */
const char *top_zoomed(const struct top_ui *ui);

void top_ui_free(struct top_ui *ui);

#endif
