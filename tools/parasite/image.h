/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_H
#define IMAGE_H

/* The ELF file of the image that was profiled: its build-id and symbols. */

#include "model.h"

struct image_symbol {
    uint64_t start;
    uint64_t end; /* exclusive */
    const char *name;
    bool label; /* says nowhere that it is a function */
    bool local;
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

/* Whether it is the image that said (hello): true also if one of the two has
 * no build-id. If not, says both; with (force), that is all. */
bool image_fits(const struct image *image, const struct model_hello *hello,
                bool force);

void image_close(struct image *image);

#endif
