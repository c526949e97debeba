/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_H
#define SERVE_H

/*
 * A small HTTP server for this machine alone: it listens at 127.0.0.1, answers
 * only to that name and localhost, so that no page elsewhere can reach it under
 * a name of its own (DNS rebinding), and lets no other page read from it but
 * the viewers on the web that its exports are for.
 */

#include <stdbool.h>
#include <stdio.h>

struct server;

/* What the maker of a page is told. */
struct serve_order {
    const struct serve_page *page;
    const struct server *server;
    void *owner; /* as given to serve_begin() */
};

/* One thing that can be fetched. It is made when it is asked for, once. */
struct serve_page {
    const char *path; /* "/name" */
    const char *type; /* MIME */
    /* Writes the page; whether all of it was written. */
    bool (*make)(const struct serve_order *order, FILE *out);
    const void *detail; /* the maker's */
};

/* Begins to serve the (count) pages at (port), 0 = any that is free. Pages are
 * made one at a time, in a thread of the server's. Ends the process if it
 * cannot listen there. */
struct server *serve_begin(const struct serve_page *pages, unsigned count,
                           void *owner, unsigned port);

/* Where it listens. */
unsigned serve_port(const struct server *server);

void serve_end(struct server *server);

#endif
