/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Results that could not be written must not look like success. */

/* From now on the end of the process writes out stdout; if that or an earlier
 * write failed, prints a line and makes the status STATUS_DATA. */
void output_check(void);

/* Opens (path) to be written, - is stdout; ends the process if it cannot be. */
FILE *output_open(const char *path);

/* Closes (out), opened at (path), to which all was written if (fine); ends the
 * process if not all of it is there. stdout is left open, and its errors to
 * output_check(). */
void output_close(FILE *out, const char *path, bool fine);

/* Long output on a terminal goes through a pager, as with git and perf: $PAGER,
 * or less, which gets LESS=FRX if that is not set. An empty $PAGER, or "cat",
 * means none. */

/* To be called just before results are printed; exit waits for the pager. */
void pager_start(void);

/* From now on pager_start() does nothing. */
void pager_off(void);

/* Whether stdout leads to a terminal, perhaps through the pager. */
bool pager_is_terminal(void);

/* Whether results are coloured: (when) is "always", "never" or "auto", which
 * needs a terminal and no NO_COLOR in the environment. */
bool use_color(const char *when);

#endif
