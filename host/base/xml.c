/* SPDX-License-Identifier: Apache-2.0 */
/* Escaped text for XML. */

#include "base/xml.h"

#include "base/utf8.h"

#include <string.h>

/* How many bytes of (text) form one character that XML allows, 0 = none: no
 * control characters, U+FFFE or U+FFFF. */
static size_t character_bytes(const char *text)
{
    int bytes = utf8_bytes(text);
    unsigned char first = (unsigned char)*text;

    if (first < 0x20 || first == 0x7f ||
        (bytes == 3 && memcmp(text, "\xef\xbf\xbd", 3) > 0 && first == 0xef))
        return 0;
    return (size_t)bytes;
}

static void put_character(FILE *out, const char *text, size_t bytes)
{
    if (bytes == 0)
        fputs("\xef\xbf\xbd", out);
    else if (*text == '<')
        fputs("&lt;", out);
    else if (*text == '>')
        fputs("&gt;", out);
    else if (*text == '&')
        fputs("&amp;", out);
    else if (*text == '"')
        fputs("&quot;", out);
    else
        fwrite(text, 1, bytes, out);
}

void xml_put(FILE *out, const char *text, size_t room)
{
    const char *at = text, *end = at;
    size_t count = 0;

    for (; *end != '\0' && count <= room; ++count) {
        size_t bytes = character_bytes(end);

        end += bytes > 0 ? bytes : 1;
    }
    if (count > room && room > 0)
        --room;
    for (size_t i = 0; *at != '\0' && i < room; ++i) {
        size_t bytes = character_bytes(at);

        put_character(out, at, bytes);
        at += bytes > 0 ? bytes : 1;
    }
    if (*at != '\0')
        fputs("\xe2\x80\xa6", out);
}
