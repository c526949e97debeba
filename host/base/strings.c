/* SPDX-License-Identifier: Apache-2.0 */
/* Keyed by a hash of the text (FNV-1a); on a collision the second text takes
 * the next free key. */

#include "base/strings.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(const char *text)
{
    uint64_t value = 0xcbf29ce484222325u;

    for (; *text != '\0'; ++text)
        value = (value ^ (uint8_t)*text) * 0x100000001b3u;
    return value;
}

static uint32_t put_string(struct strings *strings, const char *text)
{
    for (uint64_t key = hash_text(text);; ++key) {
        bool is_new;
        uint32_t number = index_add(&strings->keys, key, &is_new);

        if (is_new) {
            vector_reserve_one(&strings->texts, number, sizeof *strings->texts);
            strings->texts[number] = xstrdup(text);
        }
        if (strcmp(strings->texts[number], text) == 0)
            return number;
    }
}

uint32_t strings_put(struct strings *strings, const char *text)
{
    if (strings->keys.count == 0)
        put_string(strings, "");
    return put_string(strings, text);
}

const char *strings_text(const struct strings *strings, uint32_t number)
{
    return number < strings->keys.count ? strings->texts[number] : "";
}

uint32_t strings_count(const struct strings *strings)
{
    return strings->keys.count;
}

void strings_free(struct strings *strings)
{
    for (uint32_t i = 0; i < strings->keys.count; ++i)
        free(strings->texts[i]);
    free(strings->texts);
    index_free(&strings->keys);
    *strings = (struct strings){0};
}
