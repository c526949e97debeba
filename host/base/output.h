/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

/* Results that could not be written must not look like success. */

#include <stdbool.h>
#include <stdio.h>

/* From now on the end of the process, however it ends, writes out stdout; if
 * that or an earlier write to it failed, prints one line and makes the exit
 * status STATUS_DATA. */
void output_check(void);

/* Opens (path) to be written, - is stdout; ends the process if it cannot be. */
FILE *output_open(const char *path);

/* Closes (out), to which all was written if (fine), and returns whether all of
 * it is there. stdout is left open, and its errors to output_check(). */
bool output_close(FILE *out, bool fine);

#endif
