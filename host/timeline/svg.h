/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_SVG_H
#define TIMELINE_SVG_H

#include "timeline/timeline.h"

/* Clocks since the first event. */
struct svg_range {
    uint64_t from;
    uint64_t to; /* UINT64_MAX: to the end */
};

/* Writes a picture of (timeline) in (range), its traces below each other.
 * Returns whether all of it was written. */
bool timeline_write_svg(const struct timeline *timeline,
                        const struct svg_range *range, FILE *out);

#endif
