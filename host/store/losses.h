/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_LOSSES_H
#define STORE_LOSSES_H

/* What was not stored, until it can be said to the store: sums by bucket, guest
 * and reason. Not for several threads at a time. */

#include "base/index.h"
#include "store/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beyond so many keys, what is new is counted for no guest and service. */
#define LOSSES_MAX 100000u

struct losses {
    const char *host;
    bool none; /* nothing is lost: nothing is counted */
    struct index keys;
    struct loss *rows;
};

/* Counts the rows of a batch of (table) in (bytes), as far as they can be read,
 * and returns their amount. */
uint64_t losses_add(struct losses *losses, enum store_table table,
                    const uint8_t *bytes, size_t count, const char *why);

/* Counts (rows) and their (amount), of guests that are not known. */
void losses_add_unknown(struct losses *losses, enum store_table table,
                        uint64_t rows, uint64_t amount, const char *why);

static inline bool losses_any(const struct losses *losses)
{
    return losses->keys.count > 0;
}

/* Moves rows of one day to (rows), a set of the table losses that is empty,
 * without forgetting them: losses_forget() does, once they are kept. */
void losses_take(const struct losses *losses, struct store_rows *rows);
void losses_forget(struct losses *losses, const struct store_rows *rows);

/* Adds those of (from), of the same host, which is empty then. */
void losses_move(struct losses *losses, struct losses *from);

void losses_free(struct losses *losses);

#endif
