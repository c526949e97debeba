/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_PRINT_H
#define TOP_PRINT_H

#include "top_model.h"

/* Prints the list, its first (rows) one by one and the rest in sum. */
void top_print(const struct top_model *top, size_t rows, bool color);

#endif
