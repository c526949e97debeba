/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_PARTS_H
#define TOP_PARTS_H

/*
 * What the screens of top, of functions and of sites, have in common. From
 * above:
 *
 *     title          which guest, how long, which boot
 *     facts
 *     state          the filter being typed, an error, or something else
 *     columns
 *     rows ...
 *     keys
 */

#include "input/live.h"
#include "top/keys.h"
#include "top/terminal.h"

#define PARTS_LINE_BYTES 1024
#define PARTS_TOTAL_COLUMNS 34 /* screens from there on have totals */

/* The line of the columns, and the first of the rows. */
enum { PARTS_COLUMNS = 3, PARTS_ROWS };

/* How many rows fit at present. */
size_t parts_page(void);

/* The title, (left), and at its end the number of the boot, if it is not the
 * first, and (seconds). */
void parts_title(const char *left, unsigned boots, double seconds);

/* The facts, and on a (wide) screen what time they are of. */
void parts_facts(attr_t look, const char *text, bool wide,
                 const struct top_ui *ui);

/* The state: a filter being typed, or what is wrong. False if there is neither;
 * then the caller draws another by parts_state(). */
bool parts_problem(struct live *live, unsigned boots, const struct top_ui *ui);
void parts_state(attr_t look, const char *text, const struct top_ui *ui);

/* A row: its share, total, what (middle) says, and its name, with (sign) before
 * it; and a bar. */
struct parts_row {
    const struct top_row *row;
    const char *middle;
    const char *sign;
    bool has_total;
    bool has_bar;
};
void parts_row(int y, const struct parts_row *row, const struct top_ui *ui);

/* All rows of the page, by (put). */
typedef void parts_put(int y, const struct top_row *row,
                       const struct top_ui *ui);
void parts_rows(const struct top_ui *ui, parts_put *put);

/* The help: (count) lines of this screen, among those of all. */
void parts_help(const char *const *lines, size_t count);

/* The keys, on a screen that is (wide) and on others. */
void parts_keys(const struct top_ui *ui, bool wide, const char *text,
                const char *shorter);

#endif
