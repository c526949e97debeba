/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_RANKING_H
#define HTTP_RANKING_H

/* The rows with the most cycles, found one by one. */

#include <stddef.h>
#include <stdint.h>

#define RANKING_ROWS 20u

struct ranking {
    uint64_t cycles[RANKING_ROWS]; /* the most first */
    unsigned count;
};

/* Takes a row with (cycles) of (bytes) bytes into (rows), which has room for
 * RANKING_ROWS and is in that order, unless that many have more. Of equal ones
 * the earlier comes first. */
void ranking_take(struct ranking *ranking, uint64_t cycles, void *rows,
                  const void *row, size_t bytes);

#endif
