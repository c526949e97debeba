/* SPDX-License-Identifier: Apache-2.0 */
/* Columns, gzipped, in base64; see columns.h. */

#include "columns.h"

#include "parasite.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* of deflateInit2(): the largest, with a head */

static void close_column(struct columns *columns)
{
    json_t *one;

    if (columns->name == NULL)
        return;
    one = json_array();
    json_array_append_new(one, json_string(columns->name));
    json_array_append_new(one, json_integer((json_int_t)columns->count));
    json_array_append_new(
        one, json_integer((json_int_t)(columns->used - columns->begin)));
    json_array_append_new(columns->list, one);
}

void columns_begin(struct columns *columns, const char *name)
{
    if (columns->list == NULL)
        columns->list = json_array();
    close_column(columns);
    columns->name = name;
    columns->count = 0;
    columns->previous = 0;
    columns->begin = columns->used;
}

static void put_byte(struct columns *columns, uint8_t byte)
{
    room_for_one(&columns->bytes, columns->used, 1);
    columns->bytes[columns->used++] = byte;
}

void columns_put(struct columns *columns, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        put_byte(columns, (uint8_t)(number | 128));
    put_byte(columns, (uint8_t)number);
    ++columns->count;
}

void columns_put_signed(struct columns *columns, int64_t number)
{
    columns_put(columns, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

void columns_put_change(struct columns *columns, uint64_t number)
{
    columns_put_signed(columns, (int64_t)(number - columns->previous));
    columns->previous = number;
}

void columns_put_bytes(struct columns *columns, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        put_byte(columns, ((const uint8_t *)bytes)[i]);
    columns->count += count;
}

static void write_base64(const uint8_t *bytes, size_t count, FILE *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t bits = (uint32_t)bytes[i] << 16;

        if (left > 1)
            bits |= (uint32_t)bytes[i + 1] << 8;
        if (left > 2)
            bits |= bytes[i + 2];
        putc(digits[bits >> 18], out);
        putc(digits[bits >> 12 & 63], out);
        putc(left > 1 ? digits[bits >> 6 & 63] : '=', out);
        putc(left > 2 ? digits[bits & 63] : '=', out);
    }
}

/* (text) and the columns as one gzip stream; to be freed. */
static uint8_t *squeezed(const struct columns *columns, const char *text,
                         size_t *count)
{
    size_t bytes = strlen(text);
    uint8_t length[4] = {(uint8_t)bytes, (uint8_t)(bytes >> 8),
                         (uint8_t)(bytes >> 16), (uint8_t)(bytes >> 24)};
    const struct {
        const void *bytes;
        size_t count;
    } parts[] = {{length, 4}, {text, bytes}, {columns->bytes, columns->used}};
    z_stream stream = {0};
    uint8_t *out;

    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        fail("no memory to compress in");
    *count = deflateBound(&stream, 4 + bytes + columns->used);
    out = grown(NULL, *count, 1);
    stream.next_out = out;
    stream.avail_out = (uInt)*count;
    for (size_t i = 0; i < 3; ++i) {
        stream.next_in = (Bytef *)(uintptr_t)parts[i].bytes;
        stream.avail_in = (uInt)parts[i].count;
        deflate(&stream, i == 2 ? Z_FINISH : Z_NO_FLUSH);
    }
    *count = stream.total_out;
    deflateEnd(&stream);
    return out;
}

bool columns_write(struct columns *columns, json_t *head, FILE *out)
{
    size_t count;
    uint8_t *bytes;
    char *text;

    close_column(columns);
    json_object_set_new(head, "columns", columns->list);
    text = json_dumps(head, JSON_COMPACT);
    if (text == NULL)
        fail("the page's head is no JSON");
    bytes = squeezed(columns, text, &count);
    write_base64(bytes, count, out);
    free(bytes);
    free(text);
    free(columns->bytes);
    json_decref(head);
    *columns = (struct columns){0};
    return ferror(out) == 0;
}
