/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_WATCH_H
#define TOP_WATCH_H

/* What the user of top asked for, and the loop that does it. */

#include "live.h"
#include "request.h"
#include "top_keys.h"
#include "top_model.h"

struct watching {
    /* what was asked for */
    struct request request;
    double delay;        /* seconds between two looks */
    unsigned long looks; /* 0 = no limit */
    size_t rows;         /* of a printed table */
    bool stdio;
    bool by_time;
    const char *color;

    /* what there is */
    struct live live;
    struct top_model top;
    struct top_ui ui;
};

/* Watches until the user, the guest or the number of looks ends it; (image) is
 * that of the request, if it names one. Returns the exit status. */
int top_watch(struct watching *watching, struct image *image);

#endif
