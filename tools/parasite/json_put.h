/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JSON_PUT_H
#define JSON_PUT_H

#include <stdio.h>

/*
 * Writes (text) as a JSON string, quotes and all, for files that are too large
 * to be put together in memory. Bytes that are no UTF-8 become U+FFFD: whatever
 * a symbol is called, the file stays one that can be read.
 */
void json_put(FILE *out, const char *text);

#endif
