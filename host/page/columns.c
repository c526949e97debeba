/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of varints, one after the other. */

#include "page/columns.h"

#include "base/memory.h"

#include <stdlib.h>

static void close_column(struct columns *columns)
{
    if (columns->name != NULL)
        json_array_append_new(
            columns->list,
            json_pack("[sII]", columns->name, (json_int_t)columns->count,
                      (json_int_t)(columns->used - columns->begin)));
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
    vector_reserve_one(&columns->bytes, columns->used, 1);
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

void columns_put_text(struct columns *columns, const char *text)
{
    for (; *text != '\0'; ++text, ++columns->count)
        put_byte(columns, (uint8_t)*text);
}

json_t *columns_list(struct columns *columns)
{
    json_t *list;

    close_column(columns);
    list = columns->list != NULL ? columns->list : json_array();
    columns->list = NULL;
    columns->name = NULL;
    return list;
}

void columns_free(struct columns *columns)
{
    free(columns->bytes);
    json_decref(columns->list);
    *columns = (struct columns){0};
}
