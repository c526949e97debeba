/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust v0, terminals: numbers, identifiers, lifetimes; and Punycode (RFC 3492)
 * for identifiers that are not ASCII.
 */

#include "demangle/rust.h"

bool prof_rust_eat(struct rust *x, char c)
{
    if (x->bad || x->s >= x->end || *x->s != c)
        return false;
    x->s++;
    return true;
}

static int digit_62(char c)
{
    if (c >= 'a')
        return c <= 'z' ? c - 'a' + 10 : -1;
    if (c >= 'A')
        return c <= 'Z' ? c - 'A' + 36 : -1;
    return c >= '0' && c <= '9' ? c - '0' : -1;
}

bool prof_rust_number(struct rust *x, uint32_t *value)
{
    const char *s = x->s;
    uint32_t n = 0;

    *value = 0;
    if (x->bad || s >= x->end)
        return false;
    if (*s == '_') {
        x->s = s + 1;
        return true;
    }
    for (; *s != '_'; s++) { /* the name's NUL is no digit */
        int digit = digit_62(*s);

        if (digit < 0)
            return false;
        /* Only a disambiguator can be that large: saturate. */
        n = n > 0x3ffffff ? 0xfffffffd : n * 62 + (uint32_t)digit;
    }
    x->s = s + 1;
    *value = n + 1;
    return true;
}

bool prof_rust_tagged(struct rust *x, char tag, uint32_t *value)
{
    *value = 0;
    if (!prof_rust_eat(x, tag))
        return true;
    if (!prof_rust_number(x, value))
        return false;
    ++*value;
    return true;
}

static bool is_ascii(const char *s, uint32_t n)
{
    uint32_t all = 0, word;

    for (; n >= 4; n -= 4, s += 4) {
        __builtin_memcpy(&word, s, 4);
        all |= word;
    }
    while (n-- > 0)
        all |= (uint32_t)*s++;
    return (all & 0x80808080u) == 0;
}

/* <undisambiguated-identifier> ::= ["u"] <decimal-number> ["_"] <bytes>. With
 * "u" the part after the last '_' is Punycode. */
bool prof_rust_ident(struct rust *x, struct rust_ident *ident)
{
    bool punycode = prof_rust_eat(x, 'u');
    uint32_t n = 0;

    if (x->s >= x->end || *x->s < '0' || *x->s > '9')
        return false;
    if (*x->s == '0') {
        x->s++;
    } else {
        while (x->s < x->end && *x->s >= '0' && *x->s <= '9') {
            n = n * 10 + (uint32_t)(*x->s++ - '0');
            if (n > 0xffff)
                return false;
        }
    }
    prof_rust_eat(x, '_');
    if (n > (uint32_t)(x->end - x->s))
        return false;
    *ident = (struct rust_ident){.ascii = x->s, .ascii_bytes = (uint16_t)n};
    if (!is_ascii(x->s, n))
        return false;
    x->s += n;
    if (!punycode)
        return true;
    ident->puny = ident->ascii;
    ident->puny_bytes = ident->ascii_bytes;
    ident->ascii_bytes = 0;
    for (uint32_t i = n; i > 0; i--) {
        if (ident->ascii[i - 1] != '_')
            continue;
        ident->ascii_bytes = (uint16_t)(i - 1);
        ident->puny = ident->ascii + i;
        ident->puny_bytes = (uint16_t)(n - i);
        break;
    }
    return ident->puny_bytes > 0;
}

bool prof_rust_name(struct rust *x, uint32_t *which, struct rust_ident *ident)
{
    return prof_rust_tagged(x, 's', which) && prof_rust_ident(x, ident);
}

/* Bias adaptation (RFC 3492, 6.1). */
static uint32_t adapt(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;

    delta /= first ? 700 : 2;
    delta += delta / count;
    while (delta > (35 * 26) / 2) {
        delta /= 35;
        k += 36;
    }
    return k + 36 * delta / (delta + 38);
}

/* One generalized variable-length integer (RFC 3492, 3.3) from *at on. */
static bool delta_at(const struct rust_ident *ident, uint32_t *at,
                     uint32_t bias, uint32_t *value)
{
    uint32_t weight = 1;

    for (uint32_t k = 36;; k += 36) {
        uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        uint32_t digit;
        char c;

        if (*at >= ident->puny_bytes)
            return false;
        c = ident->puny[(*at)++];
        if (c >= 'a' && c <= 'z')
            digit = (uint32_t)(c - 'a');
        else if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0') + 26;
        else
            return false;
        if (digit > 0 && weight > 0xffffff / digit)
            return false;
        *value += digit * weight;
        if (*value > 0xffffff)
            return false;
        if (digit < t)
            return true;
        if (weight > 0xffffff / 36)
            return false;
        weight *= 36 - t;
    }
}

/* Decodes Punycode into x->characters (RFC 3492, 6.2). Returns the number of
 * characters; 0: invalid, or too long. */
static uint32_t decode(struct rust *x, const struct rust_ident *ident)
{
    uint32_t count = 0, at = 0, place = 0, code = 0x80, bias = 72;

    if (ident->ascii_bytes >= RUST_PUNYCODE)
        return 0;
    for (; count < ident->ascii_bytes; count++)
        x->characters[count] = (unsigned char)ident->ascii[count];
    while (at < ident->puny_bytes) {
        uint32_t delta = 0;

        if (count == RUST_PUNYCODE || !delta_at(ident, &at, bias, &delta))
            return 0;
        place += delta;
        bias = adapt(delta, count + 1, code == 0x80 && place == delta);
        code += place / (count + 1);
        place %= count + 1;
        if (!prof_rust_is_char(code))
            return 0;
        for (uint32_t i = count; i > place; i--)
            x->characters[i] = x->characters[i - 1];
        x->characters[place++] = code;
        count++;
    }
    return count;
}

void prof_rust_print_ident(struct rust *x, const struct rust_ident *ident)
{
    uint32_t count;

    if (x->quiet > 0)
        return;
    if (ident->puny_bytes == 0) {
        demangle_put_bytes(x->out, ident->ascii, ident->ascii_bytes);
        return;
    }
    demangle_pay(x->out, ident->puny_bytes);
    count = decode(x, ident);
    for (uint32_t i = 0; i < count; i++)
        demangle_put_utf8(x->out, x->characters[i]);
    if (count > 0)
        return;
    demangle_put_string(x->out, "punycode{");
    if (ident->ascii_bytes > 0) {
        demangle_put_bytes(x->out, ident->ascii, ident->ascii_bytes);
        demangle_put_char(x->out, '-');
    }
    demangle_put_bytes(x->out, ident->puny, ident->puny_bytes);
    demangle_put_char(x->out, '}');
}

/* <lifetime> ::= "L" <base-62-number>: 0 is '_, others count from the innermost
 * binder. Printed as 'a to 'z, then '_26 and so on. False: unbound. */
bool prof_rust_lifetime(struct rust *x, uint32_t index)
{
    uint32_t place = x->binders - index;

    if (x->quiet > 0)
        return true;
    demangle_put_char(x->out, '\'');
    if (index == 0) {
        demangle_put_char(x->out, '_');
    } else if (index > x->binders) {
        return false;
    } else if (place < 26) {
        demangle_put_char(x->out, (char)('a' + place));
    } else {
        demangle_put_char(x->out, '_');
        demangle_put_decimal(x->out, place);
    }
    return true;
}

/* <binder> ::= "G" <base-62-number>, printed as "for<'a, 'b> ". The caller
 * subtracts *count from x->binders at the end of the type. */
bool prof_rust_binder(struct rust *x, uint16_t *count)
{
    uint32_t n;

    *count = 0;
    if (!prof_rust_tagged(x, 'G', &n))
        return false;
    if (n == 0 || x->quiet > 0)
        return true;
    demangle_put_string(x->out, "for<");
    for (uint32_t i = 0; i < n; i++) {
        if (!demangle_pay(x->out, 3) || i == 0xffff)
            break;
        if (i > 0)
            demangle_put_string(x->out, ", ");
        x->binders++;
        prof_rust_lifetime(x, 1);
        *count = (uint16_t)(i + 1);
    }
    demangle_put_string(x->out, "> ");
    return true;
}
