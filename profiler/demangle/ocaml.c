/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OCaml: "caml", then the module with a capital letter. "__" separates modules
 * (since OCaml 5.1.1 "."), and "$xx" is the hexadecimal escape for a byte that
 * assemblers reject. The number at the end distinguishes functions of the same
 * name and is kept.
 *
 *     camlStdlib__List__map_345    ->  Stdlib.List.map_345
 *     camlStdlib__$3d$3d_123       ->  Stdlib.==_123
 */

#include "demangle/languages.h"

/* The byte that is escaped as "$xx" at (s), or -1. */
static int escaped(const char *s)
{
    if (s[0] != '$' || demangle_hex(s[1]) < 0 || demangle_hex(s[2]) < 0)
        return -1;
    return demangle_hex(s[1]) << 4 | demangle_hex(s[2]);
}

/* Decodes the escapes at (s) into one UTF-8 character, and returns its bytes;
 * *used: bytes of the name consumed. 0: NUL or no valid UTF-8, so the escapes
 * are printed unchanged. */
static uint32_t character(const char *s, char *text, uint32_t *used)
{
    uint32_t n = 0, code;

    *used = 0;
    do {
        int byte = escaped(s + *used);

        if (byte <= 0)
            break;
        text[n++] = (char)byte;
        *used += 3;
        if (prof_utf8_decode(text, n, &code) == n)
            return n;
    } while (n < 4);
    return 0;
}

bool prof_ocaml(struct demangle_buffer *out, const char *name, size_t bytes)
{
    const char *end = name + bytes;
    const char *s = name + 4;

    if (bytes < 5 || __builtin_memcmp(name, "caml", 4) != 0 || *s < 'A' ||
        *s > 'Z')
        return false;
    while (s < end && demangle_pay(out, 1)) {
        char text[4];
        uint32_t used;
        uint32_t n = *s == '$' ? character(s, text, &used) : 0;

        if (n > 0) {
            demangle_put_bytes(out, text, n);
            s += used;
        } else if (s[0] == '_' && s[1] == '_') {
            demangle_put_char(out, '.');
            s += 2;
        } else {
            demangle_put_char(out, *s++);
        }
    }
    return true;
}
