/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

/* What top shows on a screen (screen.h). */

#include "top_model.h"

/* How many rows of the list fit at present. */
size_t top_screen_page(void);

/* Draws everything. (title) is what is listened to. */
void top_screen_draw(const struct top_model *top, const struct top_ui *ui,
                     const char *title);

#endif
