/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

/* The terminal as a screen: lines that never exceed its width, coloured shares,
 * and keys. Includes curses. */

#define NCURSES_WIDECHAR 1

#include <curses.h>
#include <stdbool.h>

enum screen_look {
    SCREEN_PLAIN,
    SCREEN_HOT, /* a large share */
    SCREEN_WARM,
    SCREEN_BAD, /* something is wrong */
};

/* Takes the terminal; ends the process if curses does not support it. */
void screen_open(bool color);

/* Releases the terminal; may be called repeatedly. */
void screen_close(void);

/* The attributes of (look) on this terminal. */
attr_t screen_look(enum screen_look look);

/* Text at the cursor, cut after (columns) columns or at the screen's edge. */
void screen_text(const char *text, int columns);

/* Line (y): (text), then blanks. */
void screen_line(int y, attr_t look, const char *text);

/* The same, with (right) at its end if there is room for both. */
void screen_ends(int y, attr_t look, const char *left, const char *right);

/* The attributes of a share: hot, warm or plain. */
attr_t screen_heat(double percent);

/* A bar of (percent) in line (y), with room for (cells), one column before the
 * screen's edge, in eighths of a cell where these can be drawn. */
void screen_bar(int y, double percent, int cells);

/* The key that was pressed, as top_key() takes it; -1 = none. */
int screen_key(void);

#endif
