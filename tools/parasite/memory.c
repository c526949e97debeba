/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the decoder and the commands.
 *
 * Vectors double, and their capacity is a function of their length: the room
 * is full exactly when the length is 0 or a power of two from 16 on. So a
 * vector is a pointer and a length, and nothing else has to be kept.
 */

#include "parasite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16

void *grown(void *old, size_t count, size_t bytes)
{
    void *memory = reallocarray(old, count > 0 ? count : 1, bytes);

    if (memory == NULL) {
        fprintf(stderr, "parasite: no memory for %zu x %zu bytes\n", count,
                bytes);
        exit(STATUS_DATA);
    }
    return memory;
}

char *copied(const char *text)
{
    size_t bytes = strlen(text) + 1;

    return memcpy(grown(NULL, bytes, 1), text, bytes);
}

void room_for_one(void *vector, size_t used, size_t bytes)
{
    void *old;

    if (used != 0 && (used < FIRST_ROOM || (used & (used - 1)) != 0))
        return;
    memcpy(&old, vector, sizeof old);
    old = grown(old, used == 0 ? FIRST_ROOM : 2 * used, bytes);
    memcpy(vector, &old, sizeof old);
}
