/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_PRINT_H
#define TOP_PRINT_H

#include "top/model.h"

/* Prints the first (rows) of the list, and the sum of the others. False:
 * they could not be written. */
bool top_print(const struct top_model *top, size_t rows, bool color);

/* Prints a share of a table, in its colour. */
void top_print_percent(double percent, bool color);

#endif
