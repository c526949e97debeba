/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_XML_H
#define BASE_XML_H

/* Text as the content of an XML element or attribute. */

#include <stddef.h>
#include <stdio.h>

/* Writes at most (room) characters of (text), the last of them dots if it was
 * cut. What is not UTF-8, or not allowed in XML, becomes U+FFFD. */
void xml_put(FILE *out, const char *text, size_t room);

#endif
