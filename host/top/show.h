/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_SHOW_H
#define TOP_SHOW_H

/* The lists of functions and of sites: as text for a pipe or a file, and on the
 * screen, which is open (terminal.h). */

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

/* How many rows fit on the screen at present. */
size_t top_page(void);

#endif
