/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCREEN_H
#define SCREEN_H

/* The terminal as a screen: lines that never flow over its edge, shares with a
 * colour, and keys. Includes curses for whoever draws. */

#define NCURSES_WIDECHAR 1

#include <curses.h>
#include <stdbool.h>

enum screen_look {
    SCREEN_PLAIN,
    SCREEN_HOT, /* a large share */
    SCREEN_WARM,
    SCREEN_BAD, /* something is wrong */
};

/* Takes the terminal; ends the process where it is none that curses knows. */
void screen_open(bool color);

/* Gives it back; may be repeated. */
void screen_close(void);

/* Whether boxes and blocks can be drawn. */
bool screen_has_blocks(void);

/* How (look) looks here. */
attr_t screen_look(enum screen_look look);

/* Text at the cursor, cut after (columns) columns or at the screen's edge. */
void screen_text(const char *text, int columns);

/* The whole line (y) with (text), blanks behind it. */
void screen_line(int y, attr_t look, const char *text);

/* The same, with (right) at its end if there is room for both. */
void screen_ends(int y, attr_t look, const char *left, const char *right);

/* A key that was pressed, as top_key() takes it; -1 = none. */
int screen_key(void);

#endif
