/* SPDX-License-Identifier: Apache-2.0 */
/* A page is its template, and the payload where the template has a mark. */

#define _GNU_SOURCE /* memmem() */

#include "page/page.h"

#include "base/log.h"
#include "page/packed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern const char page_flame_begin[], page_flame_end[];
extern const char page_annotate_begin[], page_annotate_end[];
extern const char page_overview_begin[], page_overview_end[];
extern const char page_timeline_begin[], page_timeline_end[];
extern const char page_causal_begin[], page_causal_end[];

const struct page page_flame = {page_flame_begin, page_flame_end};
const struct page page_annotate = {page_annotate_begin, page_annotate_end};
const struct page page_overview = {page_overview_begin, page_overview_end};
const struct page page_timeline = {page_timeline_begin, page_timeline_end};
const struct page page_causal = {page_causal_begin, page_causal_end};

static const char mark[] = "@PAYLOAD@";

bool page_write(const struct page *page, const char *json, const void *columns,
                size_t bytes, FILE *out)
{
    const char *at = memmem(page->begin, (size_t)(page->end - page->begin),
                            mark, strlen(mark));
    const char *rest = at + strlen(mark);
    size_t length = strlen(json);
    const uint8_t head[] = {(uint8_t)length, (uint8_t)(length >> 8),
                            (uint8_t)(length >> 16), (uint8_t)(length >> 24)};
    const struct packed_part parts[] = {
        {head, sizeof head}, {json, length}, {columns, bytes}};

    fwrite(page->begin, 1, (size_t)(at - page->begin), out);
    packed_write(parts, sizeof parts / sizeof parts[0], out);
    fwrite(rest, 1, (size_t)(page->end - rest), out);
    return ferror(out) == 0;
}

bool page_write_head(const struct page *page, json_t *head,
                     struct columns *columns, FILE *out)
{
    static struct columns none;
    char *text;
    bool fine;

    if (columns != NULL)
        json_object_set_new(head, "columns", columns_list(columns));
    else
        columns = &none;
    text = json_dumps(head, JSON_COMPACT);
    if (text == NULL)
        die("cannot encode the page's head as JSON");
    fine = page_write(page, text, columns->bytes, columns->used, out);
    free(text);
    json_decref(head);
    columns_free(columns);
    return fine;
}
