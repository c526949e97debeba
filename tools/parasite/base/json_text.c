/* SPDX-License-Identifier: Apache-2.0 */
/* Names may hold bytes that are not UTF-8; JSON may not. */

#include "base/json_text.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text)
{
    static const char unknown[] = "\xef\xbf\xbd";
    size_t left = strlen(text), used = 0;
    json_t *string = json_stringn(text, left);
    char *mended;

    if (string != NULL)
        return string;
    mended = xreallocarray(NULL, left, sizeof unknown);
    while (left > 0) {
        size_t bytes = (size_t)utf8_bytes(text);
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

void json_print(json_t *value, FILE *out)
{
    json_dumpf(value, out, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    fputc('\n', out);
    json_decref(value);
}
