/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of JSON. */

#include "json_put.h"

#include "utf8.h"

void json_put(FILE *out, const char *text)
{
    putc('"', out);
    while (*text != '\0') {
        int bytes = utf8_bytes(text);
        unsigned char first = (unsigned char)*text;

        if (bytes == 0)
            fputs("\\ufffd", out);
        else if (first < 0x20 || first == 0x7f)
            fprintf(out, "\\u%04x", first);
        else if (first == '"' || first == '\\')
            fprintf(out, "\\%c", first);
        else
            fwrite(text, 1, (size_t)bytes, out);
        text += bytes > 0 ? bytes : 1;
    }
    putc('"', out);
}
