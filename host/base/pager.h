/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PAGER_H
#define BASE_PAGER_H

/*
 * Long output on a terminal goes through a pager, as with git and perf: $PAGER,
 * or less, which gets LESS=FRX if that is not set. An empty $PAGER, or "cat",
 * means none.
 */

#include <stdbool.h>

/* Starts the pager if stdout is a terminal; to be called just before the
 * results are printed. At exit the process waits for it. */
void pager_start(void);

/* From now on pager_start() does nothing. */
void pager_off(void);

/* Whether stdout leads to a terminal, perhaps through the pager. */
bool pager_is_terminal(void);

#endif
