/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGE_COLUMNS_H
#define PAGE_COLUMNS_H

/*
 * Numbers for a page, column by column, so that they compress well. A number is
 * a varint: seven bits a byte, the lowest first, the top bit set in all bytes
 * but the last. One with a sign has it in its lowest bit (zigzag).
 */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct columns {
    uint8_t *bytes;
    size_t used;
    json_t *list; /* [name, count, bytes] each */
    const char *name;
    uint64_t count;
    size_t begin;
    uint64_t previous;
};

/* Starts as zeros. Each number goes to the column begun last. */
void columns_begin(struct columns *columns, const char *name);
void columns_put(struct columns *columns, uint64_t number);

/* The difference to the number before in this column, with its sign. */
void columns_put_change(struct columns *columns, uint64_t number);

/* A number with its sign. */
void columns_put_signed(struct columns *columns, int64_t number);

/* One column: (number) of each element i of a vector, by (put). */
#define COLUMNS_PUT_ALL(columns, name, put, count, number)                     \
    do {                                                                       \
        columns_begin(columns, name);                                          \
        for (size_t i = 0; i < (count); ++i)                                   \
            put(columns, number);                                              \
    } while (0)

/* The bytes of (text) as they are; they count one by one. */
void columns_put_text(struct columns *columns, const char *text);

/* The list of the columns, [name, count of numbers, bytes] each, in order;
 * to be called once, after the last number. */
json_t *columns_list(struct columns *columns);

void columns_free(struct columns *columns);

#endif
