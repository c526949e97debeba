/* SPDX-License-Identifier: Apache-2.0 */

#include "ranking.h"

#include <string.h>

void ranking_take(struct ranking *ranking, uint64_t cycles, void *rows,
                  const void *row, size_t bytes)
{
    uint64_t *all = ranking->cycles;
    unsigned at = ranking->count, below;
    char *slot;

    while (at > 0 && all[at - 1] < cycles)
        at--;
    if (at == RANKING_ROWS)
        return;
    if (ranking->count < RANKING_ROWS)
        ranking->count++;
    below = ranking->count - 1 - at;
    slot = (char *)rows + at * bytes;
    memmove(&all[at + 1], &all[at], below * sizeof *all);
    memmove(slot + bytes, slot, below * bytes);
    all[at] = cycles;
    memcpy(slot, row, bytes);
}
