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
};

/* What a guest did of one of them. */
struct mixes_part {
    size_t mix; /* its place in the list */
    uint64_t weight, samples;
};

struct mixes_guest {
    uint64_t number;
    size_t first, count;      /* of (parts) */
    uint64_t weight, samples; /* of all its parts */
};

struct mixes {
    struct mix *list; /* by number; 0 has no names, and is always there */
    size_t count;
    char **functions;
    size_t function_count;
    size_t *members;
    struct mixes_guest *guests; /* in the order of sql/mixes.sql */
    size_t guest_count;
    struct mixes_part *parts;
    struct store_answer names;
};

/* Makes them of the answers to sql/mixes.sql, or sql/weights.sql, which has no
 * samples, and to sql/mix_names.sql; it takes both. A stack whose names came
 * after they were asked for is an unknown one. */
void mixes_make(struct mixes *mixes, struct store_answer guests,
                struct store_answer names);
void mixes_free(struct mixes *mixes);

/* Sets (shares), of (function_count), to those in the guest's weight; with what
 * a function calls if (total). */
void mixes_shares(const struct mixes *mixes, const struct mixes_guest *guest,
                  bool total, double *shares);

#endif
