/* SPDX-License-Identifier: Apache-2.0 */

#include "fleet/spans.h"

#include "base/checked.h"
#include "base/index.h"

#include <stdlib.h>

/* Two neighbours become one. */
static void double_minutes(struct spans *spans)
{
    struct index keys = {0};
    struct span *list = NULL;

    for (size_t i = 0; i < spans->count; ++i) {
        const struct span *from = &spans->list[i];
        const struct span fresh = {.at = from->at / 2, .stack = from->stack};
        uint32_t number =
            index_add_row(&keys, index_pair(fresh.at, fresh.stack), &list,
                          &fresh, sizeof fresh);

        list[number].samples = checked_add(list[number].samples, from->samples);
        list[number].clocks = checked_add(list[number].clocks, from->clocks);
    }
    free(spans->list);
    spans->list = list;
    spans->count = keys.count;
    spans->minutes *= 2;
    index_free(&keys);
}

void spans_join(struct spans *spans, size_t most, uint32_t minutes)
{
    while (spans->count > most && spans->minutes < minutes)
        double_minutes(spans);
}

unsigned spans_pieces(const struct spans *spans, uint32_t minutes,
                      size_t wanted, size_t most)
{
    size_t fine = 1 + wanted * spans->minutes / minutes;
    size_t room = most / (spans->count + 1);

    if (room == 0)
        return 1;
    return (unsigned)(fine < room ? fine : room);
}
