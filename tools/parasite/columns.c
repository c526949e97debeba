/* SPDX-License-Identifier: Apache-2.0 */
/* Columns, gzipped, in base64; see columns.h. */

#include "columns.h"

#include "packed.h"
#include "parasite.h"

#include <stdlib.h>
#include <string.h>

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

bool columns_write(struct columns *columns, json_t *head, FILE *out)
{
    char *text;
    size_t bytes;

    close_column(columns);
    json_object_set_new(head, "columns", columns->list);
    text = json_dumps(head, JSON_COMPACT);
    if (text == NULL)
        fail("the page's head is no JSON");
    bytes = strlen(text);
    packed_write(
        (const struct packed_part[]){
            {(uint8_t[]){(uint8_t)bytes, (uint8_t)(bytes >> 8),
                         (uint8_t)(bytes >> 16), (uint8_t)(bytes >> 24)},
             4},
            {text, bytes},
            {columns->bytes, columns->used}},
        3, out);
    free(text);
    free(columns->bytes);
    json_decref(head);
    *columns = (struct columns){0};
    return ferror(out) == 0;
}
