/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_SHOW_H
#define TOP_SHOW_H

/* The lists of functions and of sites: as text for a pipe or a file, and on the
 * screen, which is open. */

#include "top/model.h"
#include "top/sites.h"

/* Print the first (rows) of the list, and the sum of the others. False: they
 * could not be written. */
bool top_print(const struct top_model *top, size_t rows, bool color);
bool top_print_sites(const struct top_sites *top, size_t rows, bool color);

/* Draw everything. (title) names the target. */
void top_draw(const struct top_model *top, const struct top_ui *ui,
              const char *title);
void top_draw_sites(const struct top_sites *top, const struct top_ui *ui,
                    const char *title);

/* Takes the terminal; ends the process if curses does not support it. */
void screen_open(bool color);

/* Releases the terminal; may be called repeatedly. */
void screen_close(void);

/* The key that was pressed, as top_key() takes it; -1 = none. */
int screen_key(void);

/* How many rows fit on the screen at present. */
size_t top_page(void);

#endif
