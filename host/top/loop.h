/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_LOOP_H
#define TOP_LOOP_H

/* The options of top, and its main loop. */

#include "input/live.h"
#include "input/request.h"
#include "top/keys.h"
#include "top/model.h"
#include "top/sites.h"

struct top_run {
    /* the options */
    struct request request;
    double delay;          /* seconds between two updates */
    unsigned long updates; /* number of updates, 0 = no limit */
    size_t rows;           /* of a printed table */
    bool stdio;
    enum model_weight weight;
    const char *color;
    const char *sort;
    bool sites; /* who holds the event loop, instead of functions */

    /* the data */
    struct live live;
    struct top_model top;
    struct top_sites top_sites;
    struct top_ui ui;
};

/* Runs until the user, the guest or the number of updates ends it; (image) is
 * that of the request, if it names one. Returns the exit status. */
int top_loop(struct top_run *run, struct image *image);

#endif
