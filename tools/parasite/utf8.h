/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTF8_H
#define UTF8_H

/* How many bytes the character at (text), which is not at its end, has; 0 if
 * what begins there is no UTF-8 as in RFC 3629. */
int utf8_bytes(const char *text);

#endif
