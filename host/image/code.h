/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_CODE_H
#define IMAGE_CODE_H

/* An image's instructions, as its file has them, and what is known of how to
 * unwind them. All addresses are those as linked. */

#include "image/cfi.h"
#include "image/image.h"
#include "image/image.h"

struct code {
    const struct image *image;
    struct cfi *cfi; /* NULL = none */
    struct segment *segments;
    size_t segment_count;
    const uint8_t *file; /* mapped, NULL = not there */
    size_t file_bytes;
    uint64_t align;    /* of places that it may be moved to; a power of two */
    bool keeps_frames; /* most functions set up a frame pointer */
};

void code_open(struct code *code, const struct image *image);

/* The byte at (address), -1 if it is not known. */
int code_byte(const struct code *code, uint64_t address);

/* How many of (count) bytes at (address) are those of (bytes). */
size_t code_same(const struct code *code, uint64_t address,
                 const uint8_t *bytes, size_t count);

/* Whether the function whose first (count) bytes these are sets up a frame
 * pointer. */
bool code_sets_frame(const uint8_t *bytes, size_t count);

void code_close(struct code *code);

#endif
