/* SPDX-License-Identifier: Apache-2.0 */
/* A page is its template, and the payload where the template has a mark: gzip
 * in base64, in pieces of a fixed size. */

#define _GNU_SOURCE /* memmem() */

#include "page/page.h"

#include "base/log.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

extern const char page_flame_begin[], page_flame_end[];
extern const char page_annotate_begin[], page_annotate_end[];
extern const char page_overview_begin[], page_overview_end[];
extern const char page_timeline_begin[], page_timeline_end[];
extern const char page_causal_begin[], page_causal_end[];
extern const char page_fleet_begin[], page_fleet_end[];
extern const char page_live_begin[], page_live_end[];

const struct page page_flame = {page_flame_begin, page_flame_end};
const struct page page_annotate = {page_annotate_begin, page_annotate_end};
const struct page page_overview = {page_overview_begin, page_overview_end};
const struct page page_timeline = {page_timeline_begin, page_timeline_end};
const struct page page_causal = {page_causal_begin, page_causal_end};
const struct page page_fleet = {page_fleet_begin, page_fleet_end};
const struct page page_live = {page_live_begin, page_live_end};

/* A part of a payload. */
struct part {
    const void *bytes;
    size_t count;
};

#define GZIP_WINDOW (15 + 16) /* of deflateInit2(): the largest, with a head */
#define FEED_BYTES ((size_t)1 << 30) /* at a time: zlib counts in 32 bits */
#define PIECE_BYTES 12288u           /* a multiple of three, as base64 needs */

struct packing {
    z_stream stream;
    uint8_t piece[PIECE_BYTES];
    FILE *out;
};

static void put_base64(const uint8_t *bytes, size_t count, FILE *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i < 3 ? count - i : 3;
        uint32_t word = 0;

        for (size_t j = 0; j < 3; ++j)
            word = word << 8 | (j < left ? bytes[i + j] : 0);
        for (size_t j = 0; j < 4; ++j, word = word << 6 & 0xffffff)
            putc(j <= left ? digits[word >> 18] : '=', out);
    }
}

static void put_piece(struct packing *packing)
{
    z_stream *stream = &packing->stream;

    put_base64(packing->piece, PIECE_BYTES - stream->avail_out, packing->out);
    stream->next_out = packing->piece;
    stream->avail_out = PIECE_BYTES;
}

/* Compresses the stream's input, or finishes it (Z_FINISH); the last piece,
 * which is not full, is left. */
static void squeeze(struct packing *packing, int how)
{
    z_stream *stream = &packing->stream;

    while (deflate(stream, how) != Z_STREAM_END && stream->avail_out == 0)
        put_piece(packing);
}

static void feed_part(struct packing *packing, const struct part *part)
{
    const uint8_t *bytes = part->bytes;

    for (size_t left = part->count; left > 0;) {
        size_t count = left < FEED_BYTES ? left : FEED_BYTES;

        packing->stream.next_in = (Bytef *)(uintptr_t)bytes;
        packing->stream.avail_in = (uInt)count;
        squeeze(packing, Z_NO_FLUSH);
        bytes += count;
        left -= count;
    }
}

/* Writes (count) parts, one after the other, as one gzip stream in base64. */
static void write_packed(const struct part *parts, size_t count, FILE *out)
{
    struct packing packing = {.out = out};
    z_stream *stream = &packing.stream;

    if (deflateInit2(stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        die("out of memory");
    stream->next_out = packing.piece;
    stream->avail_out = PIECE_BYTES;
    for (size_t i = 0; i < count; ++i)
        feed_part(&packing, &parts[i]);
    squeeze(&packing, Z_FINISH);
    put_piece(&packing);
    deflateEnd(stream);
}

void page_picture_draw(struct page_picture *picture,
                       bool (*draw)(void *owner, unsigned step, FILE *out,
                                    char *about, size_t room),
                       void *owner)
{
    for (unsigned step = 0;; ++step) {
        FILE *out = open_memstream(&picture->svg, &picture->bytes);
        bool fine;

        if (out == NULL)
            die("out of memory");
        fine = draw(owner, step, out, picture->about, sizeof picture->about);
        if (fclose(out) != 0)
            die("out of memory");
        if (fine && picture->bytes <= PAGE_PICTURE_MAX)
            return;
        free(picture->svg);
        picture->svg = NULL;
        if (!fine)
            return;
    }
}

/* In an element of its own, so that its styles are not the page's. */
static void put_picture(const struct page_picture *picture, FILE *out)
{
    fprintf(out, "<p>%s</p>\n", picture->about);
    if (picture->svg == NULL)
        return;
    fputs("<img class=\"static\" alt=\"Static picture\" "
          "src=\"data:image/svg+xml;base64,",
          out);
    put_base64((const uint8_t *)picture->svg, picture->bytes, out);
    fputs("\">\n", out);
}

static const char mark[] = "@PAYLOAD@";
static const char picture_mark[] = "@PICTURE@";

/* (picture) may be NULL. */
static bool write_page(const struct page *page,
                       const struct page_picture *picture, const char *json,
                       const void *columns, size_t bytes, FILE *out)
{
    const char *from = page->begin;
    const char *at =
        memmem(from, (size_t)(page->end - from), mark, strlen(mark));
    const char *rest = at + strlen(mark);
    size_t length = strlen(json);
    const uint8_t head[] = {(uint8_t)length, (uint8_t)(length >> 8),
                            (uint8_t)(length >> 16), (uint8_t)(length >> 24)};
    const struct part parts[] = {
        {head, sizeof head}, {json, length}, {columns, bytes}};

    if (picture != NULL) {
        const char *place = memmem(from, (size_t)(at - from), picture_mark,
                                   strlen(picture_mark));

        fwrite(from, 1, (size_t)(place - from), out);
        put_picture(picture, out);
        from = place + strlen(picture_mark);
    }
    fwrite(from, 1, (size_t)(at - from), out);
    write_packed(parts, sizeof parts / sizeof parts[0], out);
    fwrite(rest, 1, (size_t)(page->end - rest), out);
    return ferror(out) == 0;
}

bool page_write(const struct page *page, const char *json, const void *columns,
                size_t bytes, FILE *out)
{
    return write_page(page, NULL, json, columns, bytes, out);
}

static bool write_head(const struct page *page,
                       const struct page_picture *picture, json_t *head,
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
    fine = write_page(page, picture, text, columns->bytes, columns->used, out);
    free(text);
    json_decref(head);
    columns_free(columns);
    return fine;
}

bool page_write_head(const struct page *page, json_t *head,
                     struct columns *columns, FILE *out)
{
    return write_head(page, NULL, head, columns, out);
}

bool page_write_pictured(const struct page *page, json_t *head,
                         struct columns *columns, struct page_picture *picture,
                         FILE *out)
{
    bool fine = write_head(page, picture, head, columns, out);

    free(picture->svg);
    picture->svg = NULL;
    return fine;
}
