/* SPDX-License-Identifier: Apache-2.0 */
/* JSON. Names may hold bytes that are not UTF-8; JSON may not. */

#include "base/json.h"

#include "base/text.h"

#include <stdlib.h>

/* Writes a character of at most three bytes: none that is escaped has more. */
static void put_escaped(FILE *out, const char *text, int bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned code = at[0];

    if (bytes == 2)
        code = (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
    else if (bytes == 3)
        code = (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    fprintf(out, "\\u%04x", bytes > 0 ? code : 0xfffdu);
}

void json_put(FILE *out, const char *text)
{
    const char *plain = text; /* not written yet */

    putc('"', out);
    while (*text != '\0') {
        int bytes = utf8_bytes(text);

        if (printable_bytes(text) == 0 || *text == '"' || *text == '\\') {
            fwrite(plain, 1, (size_t)(text - plain), out);
            put_escaped(out, text, bytes);
            plain = text + (bytes > 0 ? bytes : 1);
        }
        text += bytes > 0 ? bytes : 1;
    }
    fwrite(plain, 1, (size_t)(text - plain), out);
    putc('"', out);
}

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
