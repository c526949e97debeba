/* SPDX-License-Identifier: Apache-2.0 */

#include <kernel/http_text.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 1024u
#define LINE_MAX 512u

static bool make_room_for_text(struct http_text *text, size_t count)
{
    size_t room = text->room != 0 ? text->room : ROOM_FIRST;
    char *bytes;

    if (text->failed || count <= text->room - text->count)
        return !text->failed;
    while (room - text->count < count)
        room *= 2;
    bytes = realloc(text->bytes, room);
    if (bytes == NULL) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->room = room;
    return true;
}

void http_text_add(struct http_text *text, const char *bytes, size_t count)
{
    if (count == 0 || !make_room_for_text(text, count))
        return;
    memcpy(text->bytes + text->count, bytes, count);
    text->count += count;
}

void http_text_print(struct http_text *text, const char *format, ...)
{
    char line[LINE_MAX];
    va_list arguments;
    int bytes;

    va_start(arguments, format);
    bytes = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (bytes < 0 || (size_t)bytes >= sizeof line)
        text->failed = true;
    else
        http_text_add(text, line, (size_t)bytes);
}

void http_text_free(struct http_text *text)
{
    free(text->bytes);
    *text = (struct http_text){0};
}
