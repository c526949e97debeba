/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGE_PACKED_H
#define PAGE_PACKED_H

#include <stddef.h>
#include <stdio.h>

/* A part of a payload. */
struct packed_part {
    const void *bytes;
    size_t count;
};

/* Writes (count) parts, one after the other, as one gzip stream in base64.
 * Ends the process if memory runs out; ferror(out) says whether
 * all of it was written. */
void packed_write(const struct packed_part *parts, size_t count, FILE *out);

#endif
