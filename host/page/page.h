/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

/*
 * HTML pages: a template that the build made (host/pages) and is linked in,
 * and a payload that its script reads:
 *
 *     4 bytes    length of the JSON, the lowest byte first
 *     JSON       the page's own; "columns" in it lists the columns, if any
 *     columns    one after the other (columns.h)
 *
 * gzipped, in base64: it repeats itself, and a page has to be text.
 */

#include "page/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct page {
    const char *begin; /* of the template */
    const char *end;
};

extern const struct page page_flame;
extern const struct page page_annotate;
extern const struct page page_overview;
extern const struct page page_timeline;
extern const struct page page_causal;

/* Writes (page) with a payload of the text (json) and (bytes) of columns to
 * (out). Returns whether all of it was written. */
bool page_write(const struct page *page, const char *json, const void *columns,
                size_t bytes, FILE *out);

/* The same for the JSON object (head), to which the list of (columns) is added,
 * unless they are NULL. Frees both. */
bool page_write_head(const struct page *page, json_t *head,
                     struct columns *columns, FILE *out);

#endif
