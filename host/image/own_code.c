/* SPDX-License-Identifier: Apache-2.0 */

#include "image/own_code.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The start of the function or label (name) of (image), 0 = not there. */
static uint64_t start_of(const struct image *image, const char *name)
{
    for (size_t i = 0; i < image->count; ++i) {
        if (strcmp(image->functions[i].name, name) == 0)
            return image->functions[i].start;
    }
    return 0;
}

void own_code_find(struct own_code *own, const struct image *image)
{
    *own = (struct own_code){0};
    for (; image != NULL; image = image->next) {
        struct own_part part = {
            .image = image,
            .begin = start_of(image, "prof_code_begin"),
            .end = start_of(image, "prof_code_end"),
        };

        if (part.begin == 0 || part.end <= part.begin) {
            if (start_of(image, "prof_init") == 0)
                continue;
            part.by_name = true;
            part.begin = image->functions[0].start;
            part.end = image->functions[image->count - 1].end;
        }
        VECTOR_ADD(own->parts, own->count, part);
    }
}

static bool is_by_name(const struct image *image, uint64_t address)
{
    const struct image_symbol *function = image_function(image, address);

    return function != NULL && strncmp(function->name, "prof_", 5) == 0;
}

bool own_code_has(const struct own_code *own, uint64_t address)
{
    for (size_t i = 0; i < own->count; ++i) {
        const struct own_part *part = &own->parts[i];

        if (address >= part->begin && address < part->end)
            return !part->by_name || is_by_name(part->image, address);
    }
    return false;
}

void own_code_free(struct own_code *own)
{
    free(own->parts);
    *own = (struct own_code){0};
}
