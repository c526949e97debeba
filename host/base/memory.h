/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

/* Allocation that ends the process if memory runs out. */

#include <stddef.h>

/* realloc() to (count) elements of (bytes) each. */
void *xreallocarray(void *old, size_t count, size_t bytes);

/* A copy of (text), to be freed by the caller. */
char *xstrdup(const char *text);

/* Makes room for one more element in *(vector), a pointer to elements of
 * (bytes) of which (used) are in use; the capacity doubles when it is full. */
void vector_reserve_one(void *vector, size_t used, size_t bytes);

#endif
