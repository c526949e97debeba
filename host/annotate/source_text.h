/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANNOTATE_SOURCE_TEXT_H
#define ANNOTATE_SOURCE_TEXT_H

/*
 * The text of source files, each read once, when its first line is requested.
 * Pages with it are shared, and the paths are the image's, which may name any
 * file: only those below the current folder and below the given one are read,
 * wherever links lead, and no hidden ones.
 * If a file is not at the path recorded in the image, it is searched for in
 * another folder, by the longest part of its path that leads to a file there:
 * in the given folder, or in the current one, where at least the last folder of
 * its path must match.
 */

#include "base/index.h"

#include <stddef.h>

struct listing_file {
    char *text;   /* lines end with a NUL; NULL = cannot be read */
    char **lines; /* into it */
    size_t count;
};

/* Starts as zeros, or with (folder) set. */
struct listing {
    const char *folder; /* NULL = the current one */
    struct strings paths;
    struct listing_file *files;
    size_t missing;            /* files that cannot be read */
    const char *first_missing; /* path */
    size_t left_out;           /* files that may not be read */
    const char *first_left_out;
};

/* Line (number), from 1 on, of the file (path); NULL if there is none. Lives as
 * long as (listing). */
const char *listing_line(struct listing *listing, const char *path,
                         uint32_t number);

void listing_close(struct listing *listing);

#endif
