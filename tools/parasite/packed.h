/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PACKED_H
#define PACKED_H

#include <stddef.h>
#include <stdio.h>

/* A piece of what a page carries. */
struct packed_part {
    const void *bytes;
    size_t count;
};

/* Writes (count) parts, one behind the other, as one gzip stream in base64,
 * which is how a page carries what its script reads: in it everything repeats
 * itself, and a page has to be text. Ends the command where there is no memory
 * for it; what could not be written is for ferror(out) to tell. */
void packed_write(const struct packed_part *parts, size_t count, FILE *out);

#endif
