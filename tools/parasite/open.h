/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OPEN_H
#define OPEN_H

#include "serve.h"
#include "view.h"

/* What `parasite open` serves. */
struct opened {
    struct view view; /* first: view.c is given a pointer to it */
    unsigned port;    /* asked for, 0 = any */
    bool no_browser;
    const struct serve_page *pages;
    unsigned page_count;
};

/* A page in HTML: what the trace holds, the hottest functions, and links to
 * the other pages. A maker of serve.h; its owner is a struct opened. */
bool open_overview(const struct serve_order *order, FILE *out);

#endif
