/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

/* Strings and numbers of ours as JSON. */

#include <jansson.h>
#include <stdint.h>

/* (text) as a string. A name may hold any byte, JSON may not: bytes that are
 * no UTF-8 become U+FFFD. */
json_t *json_text(const char *text);

static inline json_t *json_count(uint64_t count)
{
    return json_integer((json_int_t)count);
}

#endif
