/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function's demangled name, for the report and the panic.
 *
 * The buffers are static because they are too large for a kernel's stack. The
 * longest of 560,000 mangled names in C++ and Rust libraries has 1,222 bytes;
 * demangled, fewer than one in a hundred exceed 1 KiB. A panic that interrupts
 * a report overwrites the buffers; that is harmless, because the report never
 * resumes.
 */

#include "base/equal.h"

#include <prof/config.h>
#include <prof/demangle.h>
#include <prof/name.h>
#include <stdint.h>

#define DOTS 3u /* columns of "..." */

static char linker_name[1280];
static char text[2304];
static struct prof_demangle_work work;

/* Without any language (linker_name) and (work) are unused. */
#define ANY_LANGUAGE (PROF_WITH_CXX || PROF_WITH_RUST || PROF_WITH_OCAML)

/* Whether (byte) is a continuation byte of UTF-8. */
static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Removes the last character, which may be incomplete. */
static void drop_last(size_t bytes)
{
    while (bytes > 0 && continues(text[bytes - 1]))
        --bytes;
    text[bytes > 0 ? bytes - 1 : 0] = '\0';
}

/*
 * Puts a '?' in the place of each control character: nothing that is printed
 * may steer the terminal, and a line feed would begin another line. Those above
 * 0x7f are two bytes in UTF-8, of which the first is always 0xc2.
 */
static void drop_controls(void)
{
    size_t to = 0;

    for (size_t at = 0; text[at] != '\0'; ++at) {
        unsigned char byte = (unsigned char)text[at];
        unsigned char next = (unsigned char)text[at + 1];

        if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
            text[to++] = '?';
            ++at;
        } else {
            text[to++] = byte < ' ' || byte == 0x7f ? '?' : text[at];
        }
    }
    text[to] = '\0';
}

/* Fills (text); false if only the beginning of the name fits. */
static bool make_text(const struct prof_symbol *symbol)
{
    size_t size = sizeof linker_name;
    bool whole;

    if (ANY_LANGUAGE && prof_symbol_name(symbol, linker_name, size) < size) {
        whole = !prof_demangle_as(PROF_LANGUAGE_AUTO_BRIEF, linker_name, text,
                                  sizeof text, &work)
                     .truncated;
    } else {
        whole = prof_symbol_name(symbol, text, sizeof text) < sizeof text;
        if (!whole)
            drop_last(sizeof text - 1);
    }
    drop_controls();
    return whole;
}

/* Bytes of the first (columns) characters, or of all. */
static size_t bytes_of(size_t columns)
{
    size_t at = 0;

    for (; text[at] != '\0'; ++at) {
        if (!continues(text[at]) && columns-- == 0)
            break;
    }
    return at;
}

void prof_name_write(struct prof_text *out, const struct prof_symbol *symbol,
                     size_t width)
{
    bool whole = make_text(symbol);
    size_t dots = width == 0 || width > DOTS ? DOTS : width;

    if (width > 0 && text[bytes_of(width)] != '\0')
        whole = false;
    if (width > 0 && !whole)
        text[bytes_of(width - dots)] = '\0';
    prof_text_string(out, text);
    while (!whole && dots-- > 0)
        prof_text_char(out, '.');
}

/* Whether the text is (name), or that with arguments or as a clone after it. */
static bool text_is(const char *name)
{
    const char *at = text;

    while (*name != '\0' && *at == *name)
        at++, name++;
    return *name == '\0' && (*at == '\0' || *at == '(' || *at == '.');
}

bool prof_name_is(const struct prof_symbol *symbol, const char *name)
{
    return make_text(symbol) &&
           (text_is(name) || (ANY_LANGUAGE && prof_equal(linker_name, name)));
}
