/* SPDX-License-Identifier: Apache-2.0 */
/* Names may hold bytes that are not UTF-8; JSON may not. */

#include "base/json_text.h"

#include "base/utf8.h"

#include <stdlib.h>

json_t *json_text(const char *text)
{
    char *mended = utf8_mended(text);
    json_t *string = json_string(mended != NULL ? mended : text);

    free(mended);
    return string;
}

void json_print(json_t *value, FILE *out)
{
    json_dumpf(value, out, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    fputc('\n', out);
    json_decref(value);
}
