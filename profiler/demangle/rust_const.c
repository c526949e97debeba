/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust v0: <const>, the values of const generic arguments. Numbers, characters
 * and strings are hexadecimal digits; references, arrays, tuples and structs
 * are composed of those.
 */

#include "demangle/rust.h"

/* <const-data> ::= {hex-digit} "_". NULL: something else. */
static const char *nibbles(struct rust *x, uint32_t *count)
{
    const char *from = x->s;

    while (x->s < x->end &&
           ((*x->s >= '0' && *x->s <= '9') || (*x->s >= 'a' && *x->s <= 'f')))
        x->s++;
    *count = (uint32_t)(x->s - from);
    return prof_rust_eat(x, '_') ? from : NULL;
}

static uint32_t nibble(char c)
{
    return (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The digits without leading zeros, of which there are (*count). */
static const char *significant(const char *s, uint32_t *count)
{
    for (; *count > 0 && *s == '0'; s++)
        --*count;
    return s;
}

/* The value of the next digits; UINT32_MAX if there are more than eight, or
 * none. */
static uint32_t value_at(struct rust *x)
{
    uint32_t count, value = 0;
    const char *s = nibbles(x, &count);

    if (s == NULL)
        return UINT32_MAX;
    s = significant(s, &count);
    if (count > 8)
        return UINT32_MAX;
    for (; count > 0; count--)
        value = value << 4 | nibble(*s++);
    return value;
}

/* Up to 16 digits in decimal. Each is added to sixteen times the decimal digits
 * so far: a 64-bit division on i386 would be a call into libgcc. */
static void print_64(struct rust *x, const char *s, uint32_t count)
{
    char digits[20];
    uint32_t bytes = sizeof digits - 1;
    const char *first;

    __builtin_memset(digits, '0', sizeof digits);
    for (; count > 0; count--) {
        uint32_t carry = nibble(*s++);

        for (unsigned i = sizeof digits; i-- > 0; carry /= 10) {
            carry += (uint32_t)(digits[i] - '0') * 16;
            digits[i] = (char)('0' + carry % 10);
        }
    }
    first = significant(digits, &bytes); /* the last one stays */
    demangle_put_bytes(x->out, first, bytes + 1);
}

/* In decimal; integers of more than 64 bits stay in hexadecimal. */
static bool print_number(struct rust *x)
{
    uint32_t count, left;
    const char *s = nibbles(x, &count), *rest;

    if (s == NULL)
        return false;
    if (x->quiet > 0)
        return true;
    left = count;
    rest = significant(s, &left);
    if (left <= 16) {
        print_64(x, rest, left);
    } else {
        demangle_put_string(x->out, "0x");
        demangle_put_bytes(x->out, s, count);
    }
    return true;
}

static bool print_bool(struct rust *x)
{
    uint32_t value = value_at(x);

    if (value > 1)
        return false;
    prof_rust_print(x, value ? "true" : "false");
    return true;
}

/* As Rust's Debug does: escaped if special or not printable. The other kind of
 * quotation mark needs no escape. */
static void print_character(struct rust *x, uint32_t c, char quote)
{
    static const char special[] = "\0\t\r\n\'\"\\";
    static const char letter[] = "0trn\'\"\\";

    if ((c == '\'' && quote == '"') || (c == '"' && quote == '\'')) {
        demangle_put_char(x->out, (char)c);
        return;
    }
    for (unsigned i = 0; i < sizeof letter - 1; i++) {
        if (c != (unsigned char)special[i])
            continue;
        demangle_put_char(x->out, '\\');
        demangle_put_char(x->out, letter[i]);
        return;
    }
    if (prof_rust_is_shown(c)) {
        demangle_put_utf8(x->out, c);
        return;
    }
    demangle_put_string(x->out, "\\u{");
    for (int shift = 20; shift >= 0; shift -= 4)
        if (c >> shift != 0 || shift == 0)
            demangle_put_char(x->out, "0123456789abcdef"[c >> shift & 15]);
    demangle_put_char(x->out, '}');
}

static bool print_char(struct rust *x)
{
    uint32_t value = value_at(x);

    if (!prof_rust_is_char(value))
        return false;
    if (x->quiet > 0)
        return true;
    demangle_put_char(x->out, '\'');
    print_character(x, value, '\'');
    demangle_put_char(x->out, '\'');
    return true;
}

/* Decodes one UTF-8 character in hexadecimal at *s, and moves *s past it;
 * UINT32_MAX: there is none. */
static uint32_t character_at(const char **s, const char *end)
{
    char bytes[4];
    uint32_t n = 0, code;

    while (n < sizeof bytes && *s < end) {
        bytes[n++] = (char)(nibble((*s)[0]) << 4 | nibble((*s)[1]));
        *s += 2;
        if (prof_utf8_decode(bytes, n, &code) == n)
            return code;
    }
    return UINT32_MAX;
}

static bool print_text(struct rust *x)
{
    uint32_t count;
    const char *s = nibbles(x, &count);
    const char *end;

    if (s == NULL || count % 2 != 0)
        return false;
    end = s + count;
    demangle_pay(x->out, count / 8);
    for (const char *at = s; at < end;)
        if (character_at(&at, end) > 0x10ffff)
            return false;
    if (x->quiet > 0)
        return true;
    demangle_put_char(x->out, '"');
    while (s < end)
        print_character(x, character_at(&s, end), '"');
    demangle_put_char(x->out, '"');
    return true;
}

void prof_rust_brace(struct rust *x, struct rust_frame *f)
{
    if (f->a == 0) {
        prof_rust_print(x, "{");
        f->a = 2;
    }
}

/* <const> that is one literal, by its type's letter. False: invalid, or of
 * another kind. */
static bool literal(struct rust *x, struct rust_frame *f)
{
    switch (f->b) {
    case 'p':
        prof_rust_print(x, "_");
        return true;
    case 'a':
    case 's':
    case 'l':
    case 'x':
    case 'n':
    case 'i':
        if (prof_rust_eat(x, 'n'))
            prof_rust_print(x, "-");
        return print_number(x);
    case 'h':
    case 't':
    case 'm':
    case 'y':
    case 'o':
    case 'j':
        return print_number(x);
    case 'b':
        return print_bool(x);
    case 'c':
        return print_char(x);
    case 'e':
        prof_rust_brace(x, f);
        prof_rust_print(x, "*");
        return print_text(x);
    default:
        return false;
    }
}

/* <const>, f->b being its type's letter. */
void prof_rust_const(struct rust *x, struct rust_frame *f)
{
    static const uint8_t forms[26] = {
        ['A' - 'A'] = RUST_CONST_ARRAY, ['B' - 'A'] = RUST_CONST_BACK,
        ['Q' - 'A'] = RUST_CONST_MUT,   ['R' - 'A'] = RUST_CONST_REFERENCE,
        ['T' - 'A'] = RUST_CONST_TUPLE, ['V' - 'A'] = RUST_CONST_VARIANT,
    };
    uint8_t form;
    bool good;

    if (!prof_rust_ready(x))
        return;
    form = prof_rust_form_of(x, f, forms);
    if (!prof_rust_deeper(x))
        return;
    if (form == RUST_CONST_REFERENCE && prof_rust_eat(x, 'e')) {
        form = 0;
        good = print_text(x);
    } else {
        good = form != 0 || literal(x, f);
    }
    if (good)
        prof_rust_go_on(x, f, form != 0 ? form : RUST_LITERAL);
    else
        prof_rust_invalid(x);
}

/* A field of a struct: <identifier> <const> */
void prof_rust_field(struct rust *x, struct rust_frame *f)
{
    struct rust_ident ident;
    uint32_t which;

    (void)f;
    if (!prof_rust_ready(x))
        return;
    if (!prof_rust_name(x, &which, &ident)) {
        prof_rust_invalid(x);
        return;
    }
    prof_rust_print_ident(x, &ident);
    prof_rust_print(x, ": ");
    prof_rust_become(x, RUST_CONST, 1);
}
