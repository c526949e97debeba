/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

/* Returns how many bytes the character at (text) has, 0 if they are not UTF-8
 * (RFC 3629). (text) is not at its end. */
int utf8_bytes(const char *text);

/* What some readers refuse is replaced: each byte that is not UTF-8 by U+FFFD.
 * Returns NULL if there is none, otherwise a text to be freed. */
char *utf8_mended(const char *text);

#endif
