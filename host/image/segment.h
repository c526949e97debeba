/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_SEGMENT_H
#define IMAGE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

/* A part of an image's code, in memory and in its ELF file. */
struct segment {
    uint64_t address;
    uint64_t bytes;
    uint64_t offset;
    uint64_t align; /* of its place in memory */
};

/* Returns the executable segments of the ELF file (path), to be freed; none if
 * it cannot be read. */
struct segment *segments_read(const char *path, size_t *count);

#endif
