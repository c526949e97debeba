/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OCaml: "caml", then the module with a capital letter. "__" (or from OCaml
 * 5.1.1 on ".") stands between modules, and "$xx" for a byte that linkers
 * would not take. The number at the end, which tells namesakes apart, stays.
 *
 *     camlStdlib__List__map_345    ->  Stdlib.List.map_345
 *     camlStdlib__$3d$3d_123       ->  Stdlib.==_123
 */

#include "demangle_languages.h"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that "$xx" at (s) stands for, or -1. */
static int escaped(const char *s)
{
    if (s[0] != '$' || hex(s[1]) < 0 || hex(s[2]) < 0)
        return -1;
    return hex(s[1]) << 4 | hex(s[2]);
}

/* Bytes above 0x7f are kept only where they make a character of UTF-8, and a
 * NUL never: *used says how much of the name the character takes. */
static uint32_t character(const char *s, char *text, uint32_t *used)
{
    uint32_t n = 0;

    *used = 0;
    do {
        int byte = escaped(s + *used);

        if (byte <= 0)
            break;
        text[n++] = (char)byte;
        *used += 3;
        if (prof_utf8_valid(text, n))
            return n;
    } while (n < 4);
    return 0;
}

bool prof_ocaml(struct prof_out *out, const char *name, size_t bytes)
{
    const char *end = name + bytes;
    const char *s = name + 4;

    if (bytes < 5 || __builtin_memcmp(name, "caml", 4) != 0 || *s < 'A' ||
        *s > 'Z')
        return false;
    while (s < end && prof_out_pay(out, 1)) {
        char text[4];
        uint32_t used;
        uint32_t n = *s == '$' ? character(s, text, &used) : 0;

        if (n > 0) {
            prof_out_bytes(out, text, n);
            s += used;
        } else if (s[0] == '_' && s[1] == '_') {
            prof_out_char(out, '.');
            s += 2;
        } else {
            prof_out_char(out, *s++);
        }
    }
    return true;
}
