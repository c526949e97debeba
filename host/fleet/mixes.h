/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLEET_MIXES_H
#define FLEET_MIXES_H

/*
 * What guests did, by function: each guest's mix of stacks. Two stacks are the
 * same if their functions have the same names. The store only adds up; shares
 * are computed here, where they cost a fraction of what the store needs.
 */

#include "store/client.h"

#include <stddef.h>
#include <stdint.h>

#define MIXES_UNKNOWN "[stack unknown]"

/* Functions are places in a list, which is sorted by name. */
struct mix {
    uint64_t number;
    size_t leaf;
    size_t first, count; /* of (members): its functions, each once */
    double mean;         /* share of all guests; 0 until the caller sets it */
};

struct mixes {
    struct mix *list; /* by number; 0 has no names, and is always there */
    size_t count;
    char **functions;
    size_t function_count;
    size_t *members;
    struct store_answer guests; /* sql/mixes.sql: a row for each guest */
    struct store_answer names;
};

/* Makes them of the answers to sql/mixes.sql and sql/mix_names.sql, which it
 * takes. */
void mixes_make(struct mixes *mixes, struct store_answer guests,
                struct store_answer names);
void mixes_free(struct mixes *mixes);

/* Reads a row of (guests). */
struct mixes_part {
    struct mix *mix;
    uint64_t weight, samples;
    const char *rest[3];
};

/* The first part, and the next one, of a guest's mix; false: that was all. */
void mixes_begin(const struct mixes *mixes, size_t row,
                 struct mixes_part *part);
bool mixes_next(const struct mixes *mixes, struct mixes_part *part);

/* The weight and the samples of all parts. */
struct mixes_whole {
    uint64_t weight, samples;
};
struct mixes_whole mixes_whole(const struct mixes *mixes, size_t row);

/* Sets (shares), of (function_count), to those in the guest's weight; with what
 * a function calls if (total). */
void mixes_shares(const struct mixes *mixes, size_t row, bool total,
                  double *shares);

#endif
