/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLUMNS_H
#define COLUMNS_H

/*
 * Numbers for a page, column by column, so that they compress well: the bytes
 *
 *     length of what follows, 4 bytes, the lowest first
 *     JSON: what the caller says, and for each column its name, the count of
 *         its numbers and its bytes, in order
 *     the columns, one after the other
 *
 * gzipped, in base64. A number is a varint: seven bits a byte, the lowest
 * first, the top bit set in all bytes but the last. One with a sign has it in
 * its lowest bit (zigzag).
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

/* Bytes as they are; they count one by one. */
void columns_put_bytes(struct columns *columns, const void *bytes,
                       size_t count);

/* Writes it all; (head) gets the list of the columns. Frees both. False if
 * something could not be written. */
bool columns_write(struct columns *columns, json_t *head, FILE *out);

#endif
