/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_FUNCTIONS_H
#define BENCH_FUNCTIONS_H

/* Shared by the host programs that measure symbol tables. */

#include "embed/embed.h"

/*
 * The image described on standard input, in lines of `nm -S`: what is code
 * and has a size, in the order that embed wants. (name) is its path. Exits if
 * there is no memory.
 */
struct image functions_read(const char *name);

/*
 * (count) addresses, each in a function of (image), in an order that no cache
 * foresees, the same each time: the function's first byte, or any of its bytes
 * where (within). To be freed.
 */
uintptr_t *functions_ask(const struct image *image, size_t count, bool within);

/* Seconds that this thread has run, from any beginning. */
double thread_seconds(void);

#endif
