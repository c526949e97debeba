/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XML_H
#define XML_H

/* Any text as the content of an XML element or attribute. */

#include <stddef.h>
#include <stdio.h>

/* Writes at most (room) characters of (text), dots being the last where some
 * are left out. What is no UTF-8, or no character that XML may hold, becomes
 * U+FFFD. */
void xml_put(FILE *out, const char *text, size_t room);

#endif
