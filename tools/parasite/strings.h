/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STRINGS_H
#define STRINGS_H

/* Strings by number: equal ones have the same number. 0 is the empty string,
 * and the numbers of the others are dense. */

#include "index.h"

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
