/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

/* JSON values of strings and numbers. */

#include <jansson.h>
#include <stdint.h>

/* (text) as a string. Bytes that are not UTF-8, which a name may hold and JSON
 * may not, become U+FFFD. */
json_t *json_text(const char *text);

static inline json_t *json_count(uint64_t count)
{
    return json_integer((json_int_t)count);
}

#endif
