/* SPDX-License-Identifier: Apache-2.0 */
/* The source line of a frame. */

#include "image/source_line.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct source_line frame_source(const struct names *names,
                                const struct frame *frame)
{
    struct source_line source = {xstrdup(names_text(names, frame->line)), 0};
    char *colon = strrchr(source.file, ':');

    if (colon != NULL) {
        *colon = '\0';
        source.line = (uint32_t)strtoul(colon + 1, NULL, 10);
    }
    return source;
}
