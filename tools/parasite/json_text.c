/* SPDX-License-Identifier: Apache-2.0 */
/* Names may hold bytes that are no UTF-8; JSON may not. */

#include "json_text.h"

#include "parasite.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the character at (text), 0 if there is none. */
static size_t character(const char *text, size_t left)
{
    for (size_t bytes = 1; bytes <= 4 && bytes <= left; ++bytes) {
        json_t *string = json_stringn(text, bytes);

        json_decref(string);
        if (string != NULL)
            return bytes;
    }
    return 0;
}

json_t *json_text(const char *text)
{
    static const char unknown[] = "\xef\xbf\xbd";
    size_t left = strlen(text), used = 0;
    json_t *string = json_stringn(text, left);
    char *mended;

    if (string != NULL)
        return string;
    mended = grown(NULL, left, sizeof unknown);
    while (left > 0) {
        size_t bytes = character(text, left);
        size_t from = bytes > 0 ? bytes : 1;

        memcpy(mended + used, bytes > 0 ? text : unknown,
               bytes > 0 ? bytes : sizeof unknown - 1);
        used += bytes > 0 ? bytes : sizeof unknown - 1;
        text += from;
        left -= from;
    }
    string = json_stringn(mended, used);
    free(mended);
    return string;
}
