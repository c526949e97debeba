/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

/* The ELF file of the image that was profiled: its build-id and symbols. */

#include "trace/model.h"

struct image_symbol {
    uint64_t start;
    uint64_t end; /* exclusive */
    const char *name;
};

struct image {
    const char *path;
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    struct image_symbol *functions; /* sorted by start */
    size_t count;
    struct image_symbol *objects; /* data, in no order */
    size_t object_count;
};

/* Reads (path); ends the process if that is no ELF file with symbols. */
void image_open(struct image *image, const char *path);

/* The function that holds (address), or NULL. */
const struct image_symbol *image_function(const struct image *image,
                                          uint64_t address);

/* The address of the object (name); false if there is none. */
bool image_object(const struct image *image, const char *name,
                  uint64_t *address);

/* Whether this is the image of (hello); true also if one of them has no
 * build-id. Otherwise prints both build-ids, and returns (force). */
bool image_fits(const struct image *image, const struct event_hello *hello,
                bool force);

void image_close(struct image *image);

#endif
