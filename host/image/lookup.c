/* SPDX-License-Identifier: Apache-2.0 */
/* What is at an address of an image, however that was read. */

#include "image/image.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const struct image *image_at(const struct image *image, uint64_t address)
{
    while (image != NULL && (address < image->begin + image->moved ||
                             address >= image->end + image->moved))
        image = image->next;
    return image;
}

static const struct image_symbol *function_in(const struct image *image,
                                              uint64_t address)
{
    size_t count = vector_rows_until(image->functions, image->count,
                                     sizeof *image->functions, address);

    if (count == 0 || address >= image->functions[count - 1].end)
        return NULL;
    return &image->functions[count - 1];
}

const struct image_symbol *image_function(const struct image *image,
                                          uint64_t address)
{
    const struct image_symbol *found = NULL;

    for (; image != NULL && found == NULL; image = image->next)
        found = function_in(image, address);
    return found;
}

bool image_object(const struct image *image, const char *name,
                  uint64_t *address)
{
    for (size_t i = 0; i < image->object_count; ++i) {
        if (strcmp(image->objects[i].name, name) == 0) {
            *address = image->objects[i].start;
            return true;
        }
    }
    return false;
}

const struct image_line *image_line(const struct image *image, uint64_t address,
                                    const char **source)
{
    const struct image_line *line;
    size_t count;

    image = image->next != NULL ? image_at(image, address) : image;
    if (image == NULL)
        return NULL;
    address -= image->moved;
    count = vector_rows_until(image->lines, image->line_count, sizeof *line,
                              address);
    line = count > 0 ? &image->lines[count - 1] : NULL;
    if (line == NULL || line->source == 0)
        return NULL;
    *source = image->sources[line->source - 1];
    return line;
}

void image_close(struct image *image)
{
    if (image->next != NULL)
        image_close(image->next);
    free(image->next);
    for (size_t i = 0; i < image->count; ++i)
        free((char *)image->functions[i].name);
    for (size_t i = 0; i < image->object_count; ++i)
        free((char *)image->objects[i].name);
    for (size_t i = 0; i < image->source_count; ++i)
        free(image->sources[i]);
    free(image->functions);
    free(image->objects);
    free(image->sources);
    free(image->lines);
    free(image->own_path);
    *image = (struct image){0};
}
