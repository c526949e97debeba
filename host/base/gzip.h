/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include <stdio.h>

/* Returns a stream that compresses what is written to it into (out). fclose()
 * writes the rest and the checksum, says whether all of it could be written,
 * and leaves (out) open. Returns NULL and sets errno if it cannot be made. */
FILE *gzip_over(FILE *out);

#endif
