/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

/*
 * An HTTP server for this machine only: it listens at 127.0.0.1 and answers
 * only to that name and localhost, so that no site reaches it under its own
 * (DNS rebinding). Only web viewers that its exports are for may read from it.
 */

#include <stdbool.h>
#include <stdio.h>

struct server;

/* The arguments of a page's maker. */
struct serve_order {
    const struct serve_page *page;
    const struct server *server;
    void *owner; /* as given to serve_begin() */
    void *request;
};

/* The (name)d argument of the request's address, "" without; lives as long as
 * the order. Anybody may have written it. For pages of a live server. */
const char *serve_argument(const struct serve_order *order, const char *name);

/* Something to be served, made once, at the first request; at each request of a
 * live server. */
struct serve_page {
    const char *path; /* "/name" */
    const char *type; /* MIME */
    /* Writes the page; returns whether all of it was written. */
    bool (*make)(const struct serve_order *order, FILE *out);
    const void *detail; /* the maker's */
};

/* Starts to serve the (count) pages at (port), 0 = any free one. Pages are made
 * one at a time, in a thread of the server. Ends the process if it cannot
 * listen. */
struct server *serve_begin(const struct serve_page *pages, unsigned count,
                           void *owner, unsigned port);

/* The same of pages that change: a live server. */
struct server *serve_begin_live(const struct serve_page *pages, unsigned count,
                                void *owner, unsigned port);

/* The port that it listens at. */
unsigned serve_port(const struct server *server);

void serve_end(struct server *server);

#endif
