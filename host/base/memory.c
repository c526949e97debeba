/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the decoder and the commands.
 *
 * A vector doubles, and its capacity is a function of its length: it is full
 * exactly when the length is 0 or a power of two from 16 on. So a vector is a
 * pointer and a length, with no capacity to keep.
 */

#include "base/memory.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16

void *xreallocarray(void *old, size_t count, size_t bytes)
{
    void *memory = reallocarray(old, count > 0 ? count : 1, bytes);

    if (memory == NULL) {
        fprintf(stderr, "parasite: no memory for %zu x %zu bytes\n", count,
                bytes);
        exit(STATUS_DATA);
    }
    return memory;
}

char *xstrdup(const char *text)
{
    size_t bytes = strlen(text) + 1;

    return memcpy(xreallocarray(NULL, bytes, 1), text, bytes);
}

void vector_reserve_one(void *vector, size_t used, size_t bytes)
{
    void *old;

    if (used != 0 && (used < FIRST_ROOM || (used & (used - 1)) != 0))
        return;
    memcpy(&old, vector, sizeof old);
    old = xreallocarray(old, used == 0 ? FIRST_ROOM : 2 * used, bytes);
    memcpy(vector, &old, sizeof old);
}

size_t vector_rows_until(const void *rows, size_t count, size_t bytes,
                         uint64_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t number;

        memcpy(&number, (const char *)rows + middle * bytes, sizeof number);
        if (number <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
