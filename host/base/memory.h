/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

/* Allocation that ends the process if memory runs out. */

#include <stddef.h>
#include <stdint.h>

/* realloc() to (count) elements of (bytes) each. */
void *xreallocarray(void *old, size_t count, size_t bytes);

/* A copy of (text), to be freed by the caller. */
char *xstrdup(const char *text);

/* Makes room for one more element in *(vector), a pointer to elements of
 * (bytes) of which (used) are in use; the capacity doubles when it is full. */
void vector_reserve_one(void *vector, size_t used, size_t bytes);

/* How many of (count) rows of (bytes), which are sorted by the number that each
 * begins with, have one that is at most (key). */
size_t vector_rows_until(const void *rows, size_t count, size_t bytes,
                         uint64_t key);

/* Appends a value to (vector), of which (count) are in use. */
#define VECTOR_ADD(vector, count, ...)                                         \
    do {                                                                       \
        vector_reserve_one(&(vector), (count), sizeof *(vector));              \
        (vector)[count] = __VA_ARGS__;                                         \
        ++(count);                                                             \
    } while (0)

#endif
