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
 * gzipped, in base64: it repeats itself, and a page has to be text. Some have a
 * static picture too, for browsers without scripts.
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
extern const struct page page_fleet;
extern const struct page page_live;

/* What is seen where scripts are off or fail. It is part of the file, so it has
 * few bytes. */
#define PAGE_PICTURE_MAX 49152u /* bytes of its SVG */

struct page_picture {
    char *svg; /* NULL = none, for it would be too large; to be freed */
    size_t bytes;
    char about[160]; /* a sentence, without marks of HTML */
};

/* Has (draw), with (step) 0 at first, then 1 and so on, draw less and less of
 * (owner) and say in (about) what it has drawn, until that is small enough;
 * (draw) returns false if less makes no sense. */
void page_picture_draw(struct page_picture *picture,
                       bool (*draw)(void *owner, unsigned step, FILE *out,
                                    char *about, size_t room),
                       void *owner);

/* Writes (page) with a payload of the text (json) and (bytes) of columns to
 * (out). Returns whether all of it was written. */
bool page_write(const struct page *page, const char *json, const void *columns,
                size_t bytes, FILE *out);

/* The same for the JSON object (head), to which the list of (columns) is added,
 * unless they are NULL. Frees both. */
bool page_write_head(const struct page *page, json_t *head,
                     struct columns *columns, FILE *out);

/* The same, of a page whose template has a place for (picture), whose SVG is
 * freed. */
bool page_write_pictured(const struct page *page, json_t *head,
                         struct columns *columns, struct page_picture *picture,
                         FILE *out);

#endif
