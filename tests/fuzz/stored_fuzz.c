/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds anything to what reads the symbols in a trace, without checksum and
 * compression.
 */

#include "fuzz.h"

#include "image/stored.h"

/* In place of base/log.c, where it ends the process. */
void die(const char *format, ...)
{
    (void)format;
    abort();
}

/* Functions are sorted and apart, and each is found at its address. */
static void look_at(const struct image *image)
{
    for (const struct image *at = image; at != NULL; at = at->next) {
        for (size_t i = 0; i < at->count; ++i) {
            const struct image_symbol *one = &at->functions[i];

            require(one->end >= one->start);
            require(i == 0 || one->start > one[-1].start);
            require(i == 0 || one->start >= one[-1].end);
            require(one->end == one->start ||
                    image_function(image, one->start) != NULL);
        }
        for (size_t i = 0; i < at->line_count; ++i) {
            const char *source = NULL;

            require(at->lines[i].source <= at->source_count);
            if (image_line(image, at->lines[i].address + at->moved, &source) !=
                NULL)
                require(source != NULL);
        }
    }
}

/* What was read says the same when it is written and read again. */
static void write_again(const struct image *image)
{
    struct image again;
    size_t bytes;
    uint8_t *payload = stored_payload(image, &bytes);

    if (payload == NULL)
        return;
    require(stored_read_payload(&again, payload, bytes));
    require(again.count == image->count);
    for (size_t i = 0; i < again.count; ++i)
        require(again.functions[i].start == image->functions[i].start &&
                strcmp(again.functions[i].name, image->functions[i].name) == 0);
    image_close(&again);
    free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct image image;

    if (stored_read_payload(&image, data, bytes)) {
        look_at(&image);
        write_again(&image);
        image_close(&image);
    }
    return 0;
}
