/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_SOURCE_LINE_H
#define IMAGE_SOURCE_LINE_H

#include "image/names.h"

/* A frame's line as file and number, which other formats need separately:
 * "file.c" and 12, or "" and 0 if it is unknown. The name is to be freed. */
struct source_line {
    char *file;
    uint32_t line;
};

struct source_line frame_source(const struct names *names,
                                const struct frame *frame);

#endif
