/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

/* JSON values of strings and numbers, and objects of them. */

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* (text) as a string. Bytes that are not UTF-8, which a name may hold and JSON
 * may not, become U+FFFD. */
json_t *json_text(const char *text);

static inline json_t *json_count(uint64_t count)
{
    return json_integer((json_int_t)count);
}

/* (value) becomes the member (key) of (object), which owns it from then on. */
static inline void json_set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

/* Writes (value) for people, as a line or more, and frees it. */
void json_print(json_t *value, FILE *out);

#endif
