/* SPDX-License-Identifier: Apache-2.0 */

#include <kernel/http_text.h>
#include <prof/name.h>
#include <prof/symbols.h>
#include <string.h>

/* The sink for names has no context argument, hence these variables. */
static struct http_text *into;
static const char *escape;

static void sink(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strchr(escape, bytes[i]) != NULL && bytes[i] != '\0')
            http_text_add(into, "\\", 1);
        http_text_add(into, bytes + i, 1);
    }
}

void http_name_add(struct http_text *text, uintptr_t address,
                   const char *escaped)
{
    struct prof_symbol symbol;
    struct prof_text out;

    into = text;
    escape = escaped;
    prof_text_open(&out, sink);
    if (prof_symbol_find(address, &symbol))
        prof_name_write(&out, &symbol, 0);
    else
        prof_text_hex(&out, address, 8);
    prof_text_flush(&out);
}
