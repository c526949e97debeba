/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLACE_H
#define PLACE_H

#include "names.h"

/* A place's line as file and number, which other formats want apart: "file.c"
 * and 12, or "" and 0 where it is unknown. The name is to be freed. */
struct source {
    char *file;
    uint32_t line;
};

struct source place_source(const struct names *names,
                           const struct place *place);

#endif
