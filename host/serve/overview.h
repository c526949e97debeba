/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_OVERVIEW_H
#define SERVE_OVERVIEW_H

#include "profile/view.h"
#include "serve/http.h"

/* Functions with less of the weight have no annotated code among the pages. */
#define OPEN_CODE_PERCENT 0.2

/* What `parasite open` serves. */
struct served_trace {
    struct view view; /* first: view.c is given a pointer to it */
    unsigned port;    /* asked for, 0 = any */
    bool no_browser;
    const struct serve_page *pages;
    unsigned page_count;
};

/* An HTML page: a summary of the trace, the hottest functions, and links to the
 * other pages. A maker of serve/http.h; its owner is a struct served_trace. */
bool open_overview(const struct serve_order *order, FILE *out);

#endif
