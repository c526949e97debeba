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

/* (high, low) in decimal, by long division with 16-bit digits: a 64-bit
 * division on i386 would be a call into libgcc. */
static void print_64(struct rust *x, uint32_t high, uint32_t low)
{
    char digits[20];
    unsigned at = sizeof digits;

    do {
        uint32_t part[4] = {high >> 16, high & 0xffff, low >> 16, low & 0xffff};
        uint32_t rest = 0;

        for (unsigned i = 0; i < 4; i++) {
            uint32_t value = rest << 16 | part[i];

            part[i] = value / 10;
            rest = value % 10;
        }
        high = part[0] << 16 | part[1];
        low = part[2] << 16 | part[3];
        digits[--at] = (char)('0' + rest);
    } while (high != 0 || low != 0);
    demangle_put_bytes(x->out, digits + at, sizeof digits - at);
}

/* The value of the digits; false if it does not fit into 64 bits. */
static bool value_of(const char *s, uint32_t count, uint32_t *high,
                     uint32_t *low)
{
    for (; count > 0 && *s == '0'; s++)
        count--;
    *high = *low = 0;
    if (count > 16)
        return false;
    for (; count > 0; count--) {
        *high = *high << 4 | *low >> 28;
        *low = *low << 4 | nibble(*s++);
    }
    return true;
}

/* In decimal; integers of more than 64 bits stay in hexadecimal. */
static bool print_number(struct rust *x)
{
    uint32_t count, high, low;
    const char *s = nibbles(x, &count);

    if (s == NULL)
        return false;
    if (x->quiet > 0)
        return true;
    if (value_of(s, count, &high, &low)) {
        print_64(x, high, low);
    } else {
        demangle_put_string(x->out, "0x");
        demangle_put_bytes(x->out, s, count);
    }
    return true;
}

static bool print_bool(struct rust *x)
{
    uint32_t count, high, low;
    const char *s = nibbles(x, &count);

    if (s == NULL || !value_of(s, count, &high, &low) || high != 0 || low > 1)
        return false;
    prof_rust_print(x, low ? "true" : "false");
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
    uint32_t count, high, low;
    const char *s = nibbles(x, &count);

    if (s == NULL || !value_of(s, count, &high, &low) || high != 0 ||
        !prof_rust_is_char(low))
        return false;
    if (x->quiet > 0)
        return true;
    demangle_put_char(x->out, '\'');
    print_character(x, low, '\'');
    demangle_put_char(x->out, '\'');
    return true;
}

/* Decodes one UTF-8 character in hexadecimal at *s, and moves *s past it. A
 * result above 0x10ffff means invalid UTF-8. */
static uint32_t character_at(const char **s, const char *end)
{
    uint32_t first, code, more;

    first = nibble((*s)[0]) << 4 | nibble((*s)[1]);
    *s += 2;
    if (first < 0x80)
        return first;
    if (first < 0xc2 || first > 0xf4)
        return 0xffffffff;
    more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    code = first & (0x3fu >> more);
    if ((uint32_t)(end - *s) < more * 2)
        return 0xffffffff;
    for (uint32_t i = 0; i < more; i++, *s += 2) {
        uint32_t byte = nibble((*s)[0]) << 4 | nibble((*s)[1]);

        if ((byte & 0xc0) != 0x80)
            return 0xffffffff;
        code = code << 6 | (byte & 0x3f);
    }
    if (code < (more == 1   ? 0x80u
                : more == 2 ? 0x800u
                            : 0x10000u) ||
        !prof_rust_is_char(code))
        return 0xffffffff;
    return code;
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
