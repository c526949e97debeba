/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIFF_DIFF_H
#define DIFF_DIFF_H

/*
 * Two profiles compared. Functions are matched by name, so the two may be from
 * different images and widths. Shares are compared, not counts, so the
 * durations may differ.
 *
 * A change is news if it is significant (interval.h). All functions are tested
 * together, so the confidence is that of the whole table.
 */

#include "profile/interval.h"
#include "report/report.h"

#define STATUS_GREW 3 /* --fail-above: a function grew by more */

struct diff_row {
    const char *name;
    struct model_count base; /* self, or total if requested */
    struct model_count now;
    double base_share; /* of the whole, 0 to 1 */
    double share;
    struct interval change; /* of the share; so are the next two */
    double certain;         /* 0 = noise */
};

struct diff {
    struct report base;
    struct report now;
    const char *base_image; /* path, NULL = as recorded */
    bool by_total;
    bool all; /* show noise too */
    bool json;
    double confidence; /* 0 to 1 */
    double fail_above; /* percentage points, -1 = not given */
    const char *color;

    struct strings names;
    struct diff_row *rows; /* significant ones first */
    size_t count;
    size_t news; /* how many are significant */
    double comparisons;
    double z;
};

/* Matches the rows of both reports, which are added up, and judges them. */
void diff_compare(struct diff *diff);

void diff_print(const struct diff *diff);
void diff_print_json(const struct diff *diff);

#endif
