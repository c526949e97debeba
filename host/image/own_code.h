/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_OWN_CODE_H
#define IMAGE_OWN_CODE_H

/*
 * Which code of the images is the profiler's own: what is between the symbols
 * prof_code_begin and prof_code_end, by which the guest knows it as well
 * (profiler/module.ld). Names of functions say nothing about it: a program may
 * have a prof_essor(), and the profiler has functions with other names.
 *
 * An image that has prof_init(), but not both symbols, is of an older version
 * or was linked without module.ld. There it is each function whose symbol
 * begins with "prof_". In an image without prof_init() there is no profiler.
 */

#include "image/image.h"

struct own_code {
    struct own_part {
        const struct image *image;
        uint64_t begin; /* half-open, where the image was moved to */
        uint64_t end;
        bool by_name;
    } * parts;
    size_t count;
};

/* Of all images from (image) on, NULL = none; they must outlive it. */
void own_code_find(struct own_code *own, const struct image *image);

/* Whether the instruction at (address) is the profiler's. */
bool own_code_has(const struct own_code *own, uint64_t address);

void own_code_free(struct own_code *own);

#endif
