/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_PRINT_H
#define TOP_PRINT_H

#include "top/model.h"

/* Prints the first (rows) of the list, and the sum of the others. False:
 * they could not be written. */
bool top_print(const struct top_model *top, size_t rows, bool color);

/* The lines of a head that any list may have: the number of the boot, if it is
 * not the first, and a (remark), unless that is empty. */
void top_print_remarks(unsigned boots, const char *remark);

/* The rows of a list: the share, the total, what (put) prints, and the name;
 * then the sum of those that are left out. (width) is what (put) prints, and
 * (what) the rows are. */
struct top_rows_form {
    void (*put)(const struct top_row *row);
    int width;
    const char *what;
};
bool top_print_rows(const struct top_row *rows, size_t count, size_t limit,
                    const struct top_rows_form *form, bool color);

#endif
