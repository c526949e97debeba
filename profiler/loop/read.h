/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_READ_H
#define PROF_LOOP_READ_H

/* The table and the stream read row by row. Contexts: thread. */

#include <prof/loop_stats.h>
#include <stdbool.h>

/* From now on, until it is called with false, all that is read is of this
 * moment. MUST be called where nothing runs or pauses meanwhile. */
void prof_loop_hold_still(bool hold);

/* Fills in (row) of site (number), which has been seen. Times are
 * those of the last prof_loop_account(). */
void prof_loop_row(uint32_t number, struct prof_loop_row *row);

#endif
