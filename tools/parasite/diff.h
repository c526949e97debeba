/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIFF_H
#define DIFF_H

/*
 * Two profiles side by side. A function is the same in both if its name is, so
 * that the two may come of different images, and of different widths. Shares
 * are compared, not counts: how long each was sampled does not matter.
 *
 * A change is news if chance does not explain it (interval.h). All functions
 * are asked at once, so that the confidence is that of the whole table.
 */

#include "interval.h"
#include "report.h"

#define STATUS_GREW 3 /* --fail-above: a function grew by more */

struct diff_row {
    const char *name;
    struct model_count base; /* self, or total where that was asked for */
    struct model_count now;
    double base_share; /* of the whole, 0 to 1 */
    double share;
    struct interval change; /* of the share, as are the next two */
    double certain;         /* 0 = noise */
};

struct diff {
    struct report base;
    struct report now;
    const char *base_image; /* path, NULL = as recorded */
    bool by_total;
    bool all; /* noise is shown as well */
    bool json;
    double confidence; /* 0 to 1 */
    double fail_above; /* percentage points, -1 = was not asked for */
    const char *color;

    struct strings names;
    struct diff_row *rows; /* what is certain first */
    size_t count;
    size_t news; /* the first so many */
    double comparisons;
    double z;
};

/* Matches the rows of both reports, which are added up, and judges them. */
void diff_compare(struct diff *diff);

void diff_print(const struct diff *diff);
void diff_print_json(const struct diff *diff);

#endif
