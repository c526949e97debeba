/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

/* Text for people and for readers of UTF-8 and XML, numbers among it. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Text that a guest, an image or a file chose, on its way to the user's
 * terminal. Control characters, bytes that are not UTF-8 and characters that
 * change the direction of text are written as \xNN, each byte by itself; all
 * else is written as it is.
 */

#define PRINTABLE_ESCAPE 4 /* bytes that one byte becomes at most */

/* How many bytes the character at (text) has, 0 if its first byte is written
 * as \xNN. (text) is not at its end. */
int printable_bytes(const char *text);

void printable_put(FILE *out, const char *text);

/* The same, as far as it fits, to (to) of (room) bytes, which is returned. */
char *printable(const char *text, char *to, size_t room);

/* Returns how many bytes the character at (text) has, 0 if they are not UTF-8
 * (RFC 3629). (text) is not at its end. */
int utf8_bytes(const char *text);

/* What some readers refuse is replaced: each byte that is not UTF-8 by U+FFFD.
 * Returns NULL if there is none, otherwise a text to be freed. */
char *utf8_mended(const char *text);

/* Text of an XML element or attribute, at most (room) characters, cut ones end
 * with dots. What is not UTF-8, or not allowed in XML, becomes U+FFFD. */
void xml_put(FILE *out, const char *text, size_t room);

/* Numbers as people read them: room for their text. */
#define NUMBER_TEXT_MAX 32

/* "1,234,567"; returns (text), which has room for NUMBER_TEXT_MAX. */
const char *number_count(uint64_t number, char *text);

/* "1,000.15 Hz", of thousandths; the same. */
const char *number_hz(uint64_t mhz, char *text);

/* "1.2 MB"; the same. */
const char *number_bytes(uint64_t bytes, char *text);

/* The text that (format) makes, to be freed. */
char *text_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The last part of (path), a file's name; all of it if it ends with '/'. */
static inline const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

#endif
