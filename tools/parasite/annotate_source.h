/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANNOTATE_SOURCE_H
#define ANNOTATE_SOURCE_H

/*
 * The text of source files, each read once, when its first line is asked for.
 * Where a file is not at the path that the image remembers, it is looked for
 * in another folder, by as much of its path as leads to a file there: in the
 * one that was named, or else in the present one, where at least the last
 * folder of its path must be the same.
 */

#include "strings.h"

#include <stddef.h>

struct listing_file {
    char *text;   /* lines end with a NUL; NULL = cannot be read */
    char **lines; /* into it */
    size_t count;
};

/* Starts as zeros, or with (folder) set. */
struct listing {
    const char *folder; /* NULL = the present one */
    struct strings paths;
    struct listing_file *files;
    size_t missing;            /* files that cannot be read */
    const char *first_missing; /* path */
};

/* Line (number), from 1 on, of the file (path); NULL if there is none. Lives as
 * long as (listing). */
const char *listing_line(struct listing *listing, const char *path,
                         uint32_t number);

void listing_close(struct listing *listing);

#endif
