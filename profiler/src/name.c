/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function's name as people read it, for the report and the panic.
 *
 * The buffers are static because a kernel's stack is small and they are not.
 * The longest of 560,000 names of C++ and Rust libraries has 1,222 bytes as
 * the linker knows it; demangled, fewer than one in a hundred exceed 1 KiB. A
 * panic that interrupts a report writes over what was about to be printed. It
 * may, for nothing returns from a panic.
 */

#include "equal.h"

#include <prof/demangle.h>
#include <prof/name.h>
#include <stdint.h>

#define DOTS 3u /* columns of "..." */

static char linker_name[2048];
static char text[4096];
static struct prof_demangle_work work;

/* A byte of UTF-8 that continues a character. */
static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Takes the last character away, of which some bytes may be missing. */
static void drop_last(size_t bytes)
{
    while (bytes > 0 && continues(text[bytes - 1]))
        --bytes;
    text[bytes > 0 ? bytes - 1 : 0] = '\0';
}

/* Makes the text; returns whether it is all of it, not only the beginning. */
static bool make_text(const struct prof_symbol *symbol)
{
    size_t size = sizeof linker_name;

    if (prof_symbol_name(symbol, linker_name, size) < size)
        return !prof_demangle(linker_name, text, sizeof text, &work).truncated;
    if (prof_symbol_name(symbol, text, sizeof text) < sizeof text)
        return true;
    drop_last(sizeof text - 1);
    return false;
}

/* Ends the text after (columns) characters, if it has as many. */
static void cut(size_t columns)
{
    size_t at = 0;

    for (; text[at] != '\0'; ++at) {
        if (!continues(text[at]) && columns-- == 0)
            break;
    }
    text[at] = '\0';
}

static size_t columns_of_text(void)
{
    size_t columns = 0;

    for (size_t at = 0; text[at] != '\0'; ++at)
        columns += !continues(text[at]);
    return columns;
}

void prof_name_write(struct prof_text *out, const struct prof_symbol *symbol,
                     size_t width)
{
    bool whole = make_text(symbol);
    size_t dots = width == 0 || width > DOTS ? DOTS : width;

    if (width > 0 && columns_of_text() > width)
        whole = false;
    if (width > 0 && !whole)
        cut(width - dots);
    prof_text_string(out, text);
    while (!whole && dots-- > 0)
        prof_text_char(out, '.');
}

bool prof_name_is(const struct prof_symbol *symbol, const char *name)
{
    return make_text(symbol) &&
           (prof_equal(text, name) || prof_equal(linker_name, name));
}
