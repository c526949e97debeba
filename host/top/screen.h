/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

/* The screen of top. */

#include "top/model.h"

/* Draws everything. (title) names the target. */
void top_screen_draw(const struct top_model *top, const struct top_ui *ui,
                     const char *title);

#endif
