/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_HOTTEST_H
#define PROF_HOTTEST_H

/*
 * Lists the functions in the order of the report: by weight, then by samples,
 * then by address, so that the order is total.
 *
 *     struct prof_hottest hottest;
 *     prof_hottest_begin(&hottest, 10);
 *     while ((function = prof_hottest_next(&hottest)) != NULL)
 *         ...
 *
 * Allocates nothing, because there may be no memory. A short table takes one
 * pass over the n functions, a long one a sort in O(n log n).
 */

#include <stdint.h>

#define PROF_HOTTEST_FEW 32u /* rows of a short table */

struct prof_function;

struct prof_hottest {
    const struct prof_function *few[PROF_HOTTEST_FEW]; /* of a short table */
    uint32_t count;                                    /* of them */
    uint32_t at;     /* short table: index of the next; long table: number of
                        the next function, 0 = none */
    uint32_t wanted; /* rows still to be returned, at most */
};

/* Begins a table of up to (wanted) rows. There MUST be no drain and no other
 * table before the last row is returned. Contexts: thread, panic. */
void prof_hottest_begin(struct prof_hottest *hottest, uint32_t wanted);

/* Returns the next function; NULL after the last one. */
const struct prof_function *prof_hottest_next(struct prof_hottest *hottest);

#endif
