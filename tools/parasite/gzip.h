/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GZIP_H
#define GZIP_H

#include <stdio.h>

/* A stream that compresses what is written to it into (out). Closing it writes
 * the rest and the checksum, and leaves (out) open; fclose() says whether all
 * of that was possible. NULL = it cannot be made, see errno. */
FILE *gzip_over(FILE *out);

#endif
