/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of what a service sends. */

#include "load.h"

#include <string.h>

bool load_line(struct load_text *text, const char *bytes, size_t count,
               size_t *taken, bool *failed)
{
    const char *newline = memchr(bytes, '\n', count);

    *taken = newline != NULL ? (size_t)(newline - bytes) + 1 : count;
    if (text->held + *taken >= sizeof text->line) {
        *failed = true; /* no line is that long */
        return false;
    }
    memcpy(text->line + text->held, bytes, *taken);
    text->held += *taken;
    if (newline == NULL)
        return false;
    text->held--;
    if (text->held != 0 && text->line[text->held - 1] == '\r')
        text->held--;
    text->line[text->held] = '\0';
    text->held = 0;
    return true;
}
