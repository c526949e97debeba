/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Writes (text) as a JSON string, for files too large for memory. Bytes that
 * are not UTF-8 become U+FFFD, so the file can be read for any symbol names. */
void json_put(FILE *out, const char *text);

/* The same as a value. */
json_t *json_text(const char *text);

/* What is beyond the numbers of JSON here is the largest of them. */
static inline json_t *json_count(uint64_t count)
{
    return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

/* (value) becomes the member (key) of (object), which owns it from then on. */
static inline void json_set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

/* Writes (value) for people, as a line or more, and frees it. */
void json_print(json_t *value, FILE *out);

#endif
