/* SPDX-License-Identifier: Apache-2.0 */
/* JSON strings. Text that needs no escape is written in one piece. */

#include "base/json_put.h"

#include "base/utf8.h"

static int is_plain(const char *text, int bytes)
{
    unsigned char first = (unsigned char)*text;

    return bytes > 0 && first >= 0x20 && first != 0x7f && first != '"' &&
           first != '\\';
}

void json_put(FILE *out, const char *text)
{
    const char *plain = text; /* not written yet */

    putc('"', out);
    while (*text != '\0') {
        int bytes = utf8_bytes(text);

        if (!is_plain(text, bytes)) {
            fwrite(plain, 1, (size_t)(text - plain), out);
            if (bytes > 0)
                fprintf(out, "\\u%04x", (unsigned char)*text);
            else
                fputs("\\ufffd", out);
            plain = text + (bytes > 0 ? bytes : 1);
        }
        text += bytes > 0 ? bytes : 1;
    }
    fwrite(plain, 1, (size_t)(text - plain), out);
    putc('"', out);
}
