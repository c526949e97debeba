/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_HOTTEST_H
#define PROF_HOTTEST_H

/*
 * The functions in the order of a table: by weight, then by samples, then by
 * address, so that there are no two ways to put them.
 *
 *     struct prof_hottest hottest;
 *     prof_hottest_begin(&hottest, 10);
 *     while ((cell = prof_hottest_next(&hottest)) != NULL)
 *         ...
 *
 * No memory is asked for, as a panic has none to give: a short table is found
 * in one walk over the functions, and for a long one the cells are made a list,
 * which is sorted. n functions take time for n or for n log n comparisons.
 */

#include <stdint.h>

#define PROF_HOTTEST_FEW 32u /* rows of a short table */

struct prof_cell;

struct prof_hottest {
    const struct prof_cell *few[PROF_HOTTEST_FEW]; /* of a short table */
    uint32_t count;                                /* of them */
    uint32_t at;     /* of a short one: the next; of a long one: the next
                        cell's number from 1, 0 = none */
    uint32_t wanted; /* still to be given at most */
};

/* What (cell) weighs, by the option prof.weight. */
uint64_t prof_hottest_weight(const struct prof_cell *cell);

/* Begins a table of (wanted) rows. Until its last one is taken there may be
 * neither a drain nor another table. Contexts: thread, panic. */
void prof_hottest_begin(struct prof_hottest *hottest, uint32_t wanted);

/* The next function's; NULL where all are given, or as many as were wanted. */
const struct prof_cell *prof_hottest_next(struct prof_hottest *hottest);

#endif
