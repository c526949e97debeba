/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_FILES_H
#define HTTP_FILES_H

/*
 * The files to serve: a tar archive in the first boot module (POSIX.1-1988
 * ustar, and GNU tar with short names). It is read in place and may be damaged:
 * no byte outside it is read.
 */

#include <stdbool.h>
#include <stddef.h>

#define HTTP_NAME_MAX 257u /* prefix, slash, name, and the end */

struct http_file {
    char name[HTTP_NAME_MAX]; /* without leading "./" or '/' */
    const char *bytes;
    size_t count;
};

/*
 * The next regular file in (archive) from (*at), which is 0 for the first and
 * advanced. False: no more files, or the archive is damaged.
 */
bool http_files_next(const void *archive, size_t archive_bytes, size_t *at,
                     struct http_file *file);

/* Finds a file by (name). */
bool http_files_find(const void *archive, size_t archive_bytes,
                     const char *name, struct http_file *file);

/* Media type of a file, by its (name). Never NULL. */
const char *http_files_type(const char *name);

#endif
