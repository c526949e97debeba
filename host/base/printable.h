/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

/*
 * Text that a guest, an image or a file chose, on its way to the user's
 * terminal. Control characters, bytes that are not UTF-8 and characters that
 * change the direction of text are written as \xNN, each byte by itself; all
 * else is written as it is.
 */

#include <stddef.h>
#include <stdio.h>

#define PRINTABLE_ESCAPE 4 /* bytes that one byte becomes at most */

/* How many bytes the character at (text) has, 0 if its first byte is written
 * as \xNN. (text) is not at its end. */
int printable_bytes(const char *text);

void printable_put(FILE *out, const char *text);

/* Writes what of it fits to (to), which has (room) bytes, with a zero; returns
 * (to). */
char *printable(const char *text, char *to, size_t room);

#endif
