/* SPDX-License-Identifier: Apache-2.0 */
/* gzip as a stdio stream, so that exporters need not know about it. */

#define _GNU_SOURCE /* fopencookie() */

#include "base/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

/* zlib takes an int at once. */
#define PIECE_BYTES (1u << 20)

static ssize_t write_piece(void *cookie, const char *bytes, size_t count)
{
    unsigned piece = count < PIECE_BYTES ? (unsigned)count : PIECE_BYTES;
    int written = gzwrite(cookie, bytes, piece);

    return written > 0 ? written : 0; /* a cookie reports errors as 0 */
}

static int close_stream(void *cookie)
{
    if (gzclose(cookie) == Z_OK)
        return 0;
    errno = EIO;
    return -1;
}

FILE *gzip_over(FILE *out)
{
    static const cookie_io_functions_t functions = {
        .write = write_piece,
        .close = close_stream,
    };
    int copy = fflush(out) == 0 ? dup(fileno(out)) : -1;
    gzFile file = copy >= 0 ? gzdopen(copy, "wb") : NULL;
    FILE *stream = file != NULL ? fopencookie(file, "wb", functions) : NULL;

    if (stream == NULL && file != NULL)
        gzclose(file);
    else if (stream == NULL && copy >= 0)
        close(copy);
    return stream;
}
