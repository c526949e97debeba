/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_PUT_H
#define BASE_JSON_PUT_H

#include <stdio.h>

/*
 * Writes (text) as a JSON string with its quotes, for files that are too large
 * to be built in memory. Bytes that are not UTF-8 become U+FFFD, so the file
 * can always be read, for any symbol names.
 */
void json_put(FILE *out, const char *text);

#endif
