/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in XML; see xml.h. */

#include "xml.h"

/* How many bytes of (text) are one character that XML may hold, 0 = none are:
 * UTF-8 as in RFC 3629, without control characters. */
static size_t character(const unsigned char *text)
{
    size_t bytes = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : 3;

    if (text[0] < 0x20 || text[0] == 0x7f || text[0] > 0xf4 ||
        (text[0] >= 0x80 && text[0] < 0xc2))
        return 0;
    bytes += text[0] >= 0xf0;
    for (size_t i = 1; i < bytes; ++i)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    /* surrogates, overlong forms, and what is above Unicode or no character */
    if ((text[0] == 0xe0 && text[1] < 0xa0) ||
        (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xef && text[1] == 0xbf && text[2] > 0xbd) ||
        (text[0] == 0xf0 && text[1] < 0x90) ||
        (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return bytes;
}

static void put_character(FILE *out, const unsigned char *text, size_t bytes)
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
    const unsigned char *at = (const unsigned char *)text, *end = at;
    size_t count = 0;

    for (; *end != '\0' && count <= room; ++count) {
        size_t bytes = character(end);

        end += bytes > 0 ? bytes : 1;
    }
    if (count > room && room > 0)
        --room;
    for (size_t i = 0; *at != '\0' && i < room; ++i) {
        size_t bytes = character(at);

        put_character(out, at, bytes);
        at += bytes > 0 ? bytes : 1;
    }
    if (*at != '\0')
        fputs("\xe2\x80\xa6", out);
}
