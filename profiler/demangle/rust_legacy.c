/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust's legacy mangling: a nested name of the Itanium C++ ABI. Characters that
 * a C++ identifier cannot have are written as $escapes$ and "..", and the last
 * part is a hash.
 *
 *     _ZN4core3fmt5Write10write_char17h0123456789abcdefE
 *     core::fmt::Write::write_char
 *
 * The hash is not printed. It is the only difference from a C++ name, so a name
 * without a hash is taken for Rust only if the caller asks for that language.
 */

#include "demangle/rust.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hash(const char *s, size_t n)
{
    if (n == 0 || s[0] != 'h')
        return false;
    for (size_t i = 1; i < n; i++)
        if (demangle_hex(s[i]) < 0)
            return false;
    return true;
}

/* <source-name> ::= <positive length number> <identifier>. Returns the
 * identifier, (*bytes) long, and moves *s past it; NULL if there is none. */
static const char *part(const char **s, const char *end, size_t *bytes)
{
    const char *at = *s;
    size_t n = 0;

    if (!is_digit(*at))
        return NULL;
    for (; is_digit(*at); at++) {
        n = n * 10 + (size_t)(*at - '0');
        if (n > (size_t)(end - at))
            return NULL;
    }
    if (n > (size_t)(end - at))
        return NULL;
    *bytes = n;
    *s = at + n;
    return at;
}

/* The character for the (n) bytes between two '$', 0 if they are no escape. It
 * is rare: inlined, it would take registers from the loop. */
static __attribute__((noinline)) uint32_t escape(const char *s, size_t n)
{
    static const char known[][3] = {"SP", "BP", "RF", "LT",
                                    "GT", "LP", "RP", "C"};
    static const char meaning[] = "@*&<>(),";
    uint32_t code = 0;

    for (unsigned i = 0; meaning[i] != 0; i++)
        if (n <= 2 && s[0] == known[i][0] &&
            (n == 1 ? known[i][1] == 0 : s[1] == known[i][1]))
            return (unsigned char)meaning[i];
    if (n < 2 || s[0] != 'u')
        return 0;
    for (size_t i = 1; i < n; i++) {
        int digit = demangle_hex(s[i]);

        if (digit < 0 || (s[i] >= 'A' && s[i] <= 'F') || code > 0x10ffff)
            return 0;
        code = code * 16 + (uint32_t)digit;
    }
    if (!rust_is_char(code) || code < 0x20 || (code >= 0x7f && code < 0xa0))
        return 0;
    return code;
}

static size_t find_either(const char *s, size_t n, char one, char other)
{
    size_t i = 0;

    while (i < n && s[i] != one && s[i] != other)
        i++;
    return i;
}

static void print_part(struct demangle_buffer *o, const char *s, size_t n)
{
    if (n >= 2 && s[0] == '_' && s[1] == '$') {
        s++;
        n--;
    }
    while (n > 0) {
        size_t used = 1;

        if (!demangle_pay(o, 1))
            return;
        if (s[0] == '.' && n > 1 && s[1] == '.') {
            demangle_put_string(o, "::");
            used = 2;
        } else if (s[0] == '.') {
            demangle_put_char(o, '.');
        } else if (s[0] == '$') {
            size_t inside = find_either(s + 1, n - 1, '$', '$');
            uint32_t code = 0;

            if (inside > 0 && inside < n - 1)
                code = escape(s + 1, inside);
            if (code == 0)
                break;
            demangle_put_utf8(o, code);
            used = inside + 2;
        } else {
            used = find_either(s, n, '$', '.');
            if (used == n)
                break;
            demangle_put_bytes(o, s, used);
        }
        s += used;
        n -= used;
    }
    demangle_put_bytes(o, s, n);
}

bool prof_rust_legacy(struct demangle_buffer *out, const char *name,
                      size_t bytes, bool without_hash)
{
    const char *end = name + bytes;
    const char *s = name + 3;
    const char *last = NULL;
    size_t last_bytes = 0;
    size_t parts = 0;
    bool hash;

    if (bytes < 4 || __builtin_memcmp(name, "_ZN", 3) != 0)
        return false;
    for (; *s != 'E'; parts++) {
        if (!demangle_pay(out, 1))
            return false;
        last = part(&s, end, &last_bytes);
        if (last == NULL)
            return false;
    }
    hash = parts > 0 && is_hash(last, last_bytes);
    if ((!hash || last_bytes != 17) && !without_hash)
        return false;
    s++;
    end = rust_end(name, end);
    if (s > end || !rust_is_suffix(s, end))
        return false;
    last = s;
    s = name + 3;
    for (size_t i = 0; i < (hash ? parts - 1 : parts); i++) {
        size_t n;
        const char *text = part(&s, end, &n);

        if (!demangle_pay(out, 1))
            return true;
        if (i > 0)
            demangle_put_string(out, "::");
        print_part(out, text, n);
    }
    demangle_put_bytes(out, last, (size_t)(end - last));
    return true;
}
