/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_FILES_H
#define HTTP_FILES_H

/*
 * The files that are served: a tar archive (POSIX.1-1988 ustar, and what GNU
 * tar makes of short names), given as the first boot module. Read where it
 * lies; no byte beyond it, whatever it says of itself.
 */

#include <stdbool.h>
#include <stddef.h>

#define HTTP_NAME_MAX 257u /* prefix, slash, name, and the end */

struct http_file {
    char name[HTTP_NAME_MAX]; /* without "./" or '/' in front */
    const char *bytes;
    size_t count;
};

/*
 * The regular file behind (*at), 0 for the first, in (archive); (*at) moves
 * on. False: there is no more, or what follows is damaged.
 */
bool http_files_next(const void *archive, size_t archive_bytes, size_t *at,
                     struct http_file *file);

/* The file of that (name). */
bool http_files_find(const void *archive, size_t archive_bytes,
                     const char *name, struct http_file *file);

/* What HTTP calls a file of that name. Never NULL. */
const char *http_files_type(const char *name);

#endif
