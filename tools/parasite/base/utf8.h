/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

/* Returns how many bytes the character at (text) has, 0 if they are not UTF-8
 * (RFC 3629). (text) is not at its end. */
int utf8_bytes(const char *text);

#endif
