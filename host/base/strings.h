/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

/* Interned strings: equal ones have the same number. 0 is the empty string, the
 * others are numbered densely. */

#include "base/index.h"

/* Starts as zeros. */
struct strings {
    struct index keys;
    char **texts;
};

uint32_t strings_put(struct strings *strings, const char *text);

/* Lives as long as (strings). */
const char *strings_text(const struct strings *strings, uint32_t number);

uint32_t strings_count(const struct strings *strings);

void strings_free(struct strings *strings);

#endif
