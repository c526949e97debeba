/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <stddef.h>
#include <stdint.h>

/* Where a piece of an image's code lies, in memory and in its ELF file. */
struct segment {
    uint64_t address;
    uint64_t bytes;
    uint64_t offset;
};

/* The executable segments of the ELF file (path), to be freed; none if it
 * cannot be read. */
struct segment *segments_read(const char *path, size_t *count);

#endif
