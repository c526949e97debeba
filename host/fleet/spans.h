/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLEET_SPANS_H
#define FLEET_SPANS_H

/* Samples of stacks in minutes, as a timeline shows them; in spans of more
 * minutes where they are too many for it. */

#include <stddef.h>
#include <stdint.h>

struct span {
    uint32_t at; /* which of the spans since the beginning */
    uint32_t stack;
    uint64_t samples, clocks;
};

/* Starts as zeros, with 1 minute; the list is to be freed. */
struct spans {
    struct span *list; /* each stack once in each span, in any order */
    size_t count;
    uint32_t minutes; /* of one span */
};

/* Makes spans longer, until they are no more than (most) or all of (minutes)
 * are one. No sample is lost. */
void spans_join(struct spans *spans, size_t most, uint32_t minutes);

/* How many samples each span becomes: so many that all (minutes) have at least
 * (wanted), but of all spans no more than (most), and at least one. */
unsigned spans_pieces(const struct spans *spans, uint32_t minutes,
                      size_t wanted, size_t most);

#endif
