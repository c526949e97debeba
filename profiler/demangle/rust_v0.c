/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust's v0 mangling (RFC 2603): the machine.
 *
 * A name is valid or not regardless of its back references. If one leads into
 * the middle of something, "{invalid syntax}" is printed there, enclosing rules
 * print "?" for what they can no longer parse, and parsing continues after the
 * reference. This, and the nesting limit of 500, follows rustc-demangle.
 *
 * rustc-demangle parses twice, first to check and then to print. Here a name is
 * printed at once. It is parsed again, without printing, only if that ended
 * early: no room or budget left, or an unbound lifetime.
 *
 * As in C++ (cxx_parse.h), each rule is a state machine with a frame on an
 * explicit stack. Names are printed while they are parsed; for a back reference
 * the parser jumps to an earlier position and returns.
 */

#include "demangle/rust.h"

enum rust_rule {
    RUST_PATH, /* a = 1: as a value, with ::<> */
    RUST_TYPE,
    RUST_CONST,     /* a = 1: within an expression, no braces */
    RUST_OPEN_PATH, /* leaves '<' open, then x->open */
    RUST_ARG,
    /* rows of rows[]: what others call, */
    RUST_ROWS,
    RUST_DYN_TRAIT = RUST_ROWS, /* a: '<' is open */
    RUST_FIELD,
    /* and what a letter begins */
    RUST_CRATE,
    RUST_NESTED,
    RUST_IMPL,
    RUST_TRAIT_IMPL,
    RUST_TRAIT,
    RUST_GENERIC,
    RUST_PATH_BACK,
    RUST_REFERENCE,
    RUST_MUT_REFERENCE,
    RUST_POINTER,
    RUST_MUT_POINTER,
    RUST_ARRAY,
    RUST_SLICE,
    RUST_TUPLE,
    RUST_FN,  /* a = lifetimes bound here */
    RUST_DYN, /* the same */
    RUST_TYPE_BACK,
    RUST_NAMED,
    RUST_CONST_REFERENCE,
    RUST_CONST_MUT,
    RUST_CONST_ARRAY,
    RUST_CONST_TUPLE,
    RUST_CONST_VARIANT,
    RUST_CONST_BACK,
    RUST_LITERAL,
    RUST_TUPLE_FIELDS,
    RUST_STRUCT_FIELDS,
    RUST_OPEN_BACK,
    RUST_OPEN_GENERIC,
    RUST_OPEN_OTHER,
    RUST_RULES
};

struct rust_frame {
    uint8_t rule;
    uint8_t at;
    uint16_t a, b, c;
};

/* The nesting limit of rustc-demangle. */
#define RUST_DEPTH 500u
/* Longer identifiers in Punycode are printed undecoded. */
#define RUST_PUNYCODE 128u

struct rust {
    const char *text; /* origin of back references */
    const char *s;
    const char *end;
    struct demangle_buffer *out;
    struct rust_frame *frame;
    struct rust_frame *floor;   /* empty here */
    struct rust_frame *ceiling; /* full here */
    uint32_t *characters;       /* RUST_PUNYCODE of them */
    uint32_t binders;           /* lifetimes bound so far */
    uint16_t depth;
    uint16_t backs; /* back references being followed */
    uint16_t quiet; /* > 0: nothing is printed */
    bool bad;       /* invalid here: enclosing rules print "?" */
    bool failed;    /* the whole name is invalid */
    bool open;      /* RUST_OPEN_PATH has left '<' open */
};

struct rust_ident {
    const char *ascii;
    const char *puny;
    uint16_t ascii_bytes, puny_bytes;
};

static void run_row(struct rust *x, struct rust_frame *f);

static void rust_print(struct rust *x, const char *s)
{
    if (x->quiet == 0)
        demangle_put_string(x->out, s);
}

static bool rust_eat(struct rust *x, char c)
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

/* <base-62-number> ::= {digit} "_"; "_" is 0, "0_" is 1. False: none. */
static bool rust_number(struct rust *x, uint32_t *value)
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

/* (tag) <base-62-number>: the number plus 1; 0 without the tag. */
static bool rust_tagged(struct rust *x, char tag, uint32_t *value)
{
    *value = 0;
    if (!rust_eat(x, tag))
        return true;
    if (!rust_number(x, value))
        return false;
    ++*value;
    return true;
}

static void push(struct rust *x, uint8_t rule, uint16_t a)
{
    if (x->frame == x->ceiling) {
        x->failed = true;
        return;
    }
    x->frame++;
    *x->frame = (struct rust_frame){.rule = rule, .a = a};
}

static void rust_call(struct rust *x, uint8_t at, uint8_t rule, uint16_t a)
{
    x->frame->at = at;
    push(x, rule, a);
}

static void rust_become(struct rust *x, uint8_t rule, uint16_t a)
{
    *x->frame = (struct rust_frame){.rule = rule, .a = a};
}

/* Returns from one that did not. */
static void rust_done(struct rust *x)
{
    x->frame--;
}

/* Returns from a rule that called rust_deeper(). */
static void rust_leave(struct rust *x)
{
    if (!x->bad)
        x->depth--;
    x->frame--;
}

static void stop(struct rust *x, const char *why)
{
    rust_print(x, why);
    x->bad = true;
    x->frame--;
}

/* Prints "{invalid syntax}" and returns from the rule. Outside of back
 * references the whole name is then invalid. */
static void rust_invalid(struct rust *x)
{
    if (x->backs == 0)
        x->failed = true;
    stop(x, "{invalid syntax}");
}

/* The same for an unbound lifetime, which does not make the name invalid. */
static void rust_unbound(struct rust *x)
{
    stop(x, "{invalid syntax}");
}

/* True if parsing can continue; otherwise prints "?" and returns from the
 * rule. */
static bool rust_ready(struct rust *x)
{
    if (!x->bad)
        return true;
    rust_print(x, "?");
    x->frame--;
    return false;
}

/* Enters a nesting level. False, and returned from the rule: too deep. */
static bool rust_deeper(struct rust *x)
{
    if (++x->depth <= RUST_DEPTH)
        return true;
    if (x->backs == 0)
        x->failed = true;
    stop(x, "{recursion limit reached}");
    return false;
}

/*
 * <backref> ::= "B" <base-62-number>, after the "B". Calls (rule, a) at that
 * position, then continues in state (at), which must first call
 * rust_back_again(). Overwrites f->b and f->c.
 */
static void rust_back(struct rust *x, struct rust_frame *f, uint8_t at,
                      uint8_t rule, uint16_t a)
{
    const char *from = x->s - 1;
    uint32_t where;

    if (!rust_number(x, &where) || where >= (uint32_t)(from - x->text)) {
        rust_invalid(x);
        return;
    }
    if (x->depth >= RUST_DEPTH) {
        rust_deeper(x);
        return;
    }
    f->b = x->depth;
    f->c = (uint16_t)(x->s - x->text);
    f->at = at;
    if (x->quiet > 0)
        return; /* continue in state (at) at once */
    x->s = x->text + where;
    x->depth++;
    x->backs++;
    push(x, rule, a);
}

static void rust_back_again(struct rust *x, struct rust_frame *f)
{
    if (x->quiet > 0)
        return;
    x->bad = false;
    x->backs--;
    x->depth = f->b;
    x->s = x->text + f->c;
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
static bool rust_ident(struct rust *x, struct rust_ident *ident)
{
    bool punycode = rust_eat(x, 'u');
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
    rust_eat(x, '_');
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

/* [s<number>_] <ident> */
static bool rust_name(struct rust *x, uint32_t *which, struct rust_ident *ident)
{
    return rust_tagged(x, 's', which) && rust_ident(x, ident);
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
        *value += digit * weight; /* below 2^30: weight is below 2^24 */
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
        if (!rust_is_char(code))
            return 0;
        for (uint32_t i = count; i > place; i--)
            x->characters[i] = x->characters[i - 1];
        x->characters[place++] = code;
        count++;
    }
    return count;
}

static void rust_print_ident(struct rust *x, const struct rust_ident *ident)
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
static bool rust_lifetime(struct rust *x, uint32_t index)
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

/* The <base-62-number> of a lifetime, after the "L", printed between two texts.
 * The erased one is not printed if there is a text before. False: returned from
 * the rule. */
static bool print_lifetime(struct rust *x, const char *before,
                           const char *after)
{
    uint32_t index;

    if (!rust_number(x, &index)) {
        rust_invalid(x);
        return false;
    }
    if (before != NULL) {
        if (index == 0)
            return true;
        rust_print(x, before);
    }
    if (!rust_lifetime(x, index)) {
        rust_unbound(x);
        return false;
    }
    rust_print(x, after);
    return true;
}

/* <binder> ::= "G" <base-62-number>, printed as "for<'a, 'b> ". The caller
 * subtracts *count from x->binders at the end of the type. */
static bool rust_binder(struct rust *x, uint16_t *count)
{
    uint32_t n;

    *count = 0;
    if (!rust_tagged(x, 'G', &n))
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
        rust_lifetime(x, 1);
        *count = (uint16_t)(i + 1);
    }
    demangle_put_string(x->out, "> ");
    return true;
}

/* Goes on with row (rule), with what the rule has in its frame. */
static void go_on(struct rust *x, struct rust_frame *f, uint8_t rule)
{
    f->rule = rule;
    f->at = 0;
    run_row(x, f);
}

#define LETTER(c) [(c) - 'A']
/* The row that a letter begins in a rule. */
static const uint8_t beginnings[][26] = {
    /* C <identifier> crate, N <namespace> <path> <identifier> nested,
     * M <impl-path> <type> inherent impl, X <impl-path> <type> <path> trait
     * impl, Y <type> <path> trait definition, I <path> {<generic-arg>} E,
     * B <base-62-number> back reference */
    [RUST_PATH] = {LETTER('C') = RUST_CRATE, LETTER('N') = RUST_NESTED,
                   LETTER('M') = RUST_IMPL, LETTER('X') = RUST_TRAIT_IMPL,
                   LETTER('Y') = RUST_TRAIT, LETTER('I') = RUST_GENERIC,
                   LETTER('B') = RUST_PATH_BACK},
    [RUST_TYPE] = {LETTER('R') = RUST_REFERENCE,
                   LETTER('Q') = RUST_MUT_REFERENCE, LETTER('P') = RUST_POINTER,
                   LETTER('O') = RUST_MUT_POINTER, LETTER('A') = RUST_ARRAY,
                   LETTER('S') = RUST_SLICE, LETTER('T') = RUST_TUPLE,
                   LETTER('F') = RUST_FN, LETTER('D') = RUST_DYN,
                   LETTER('B') = RUST_TYPE_BACK},
    [RUST_CONST] = {LETTER('A') = RUST_CONST_ARRAY,
                    LETTER('B') = RUST_CONST_BACK, LETTER('Q') = RUST_CONST_MUT,
                    LETTER('R') = RUST_CONST_REFERENCE,
                    LETTER('T') = RUST_CONST_TUPLE,
                    LETTER('V') = RUST_CONST_VARIANT},
};

/* Consumes a byte, f->b, 0 at the end. Returns the row that it begins, or 0. */
static uint8_t row_of(struct rust *x, struct rust_frame *f)
{
    f->b = (uint8_t)(x->s < x->end ? *x->s++ : 0);
    return f->b >= 'A' && f->b <= 'Z' ? beginnings[f->rule][f->b - 'A'] : 0;
}

/* The name of the type that (letter) is, "" if it is none. */
static const char *basic_type(uint16_t letter)
{
    /* from 'a' on */
    static const char names[][6] = {
        "i8",    "bool", "char", "f64", "str",  "f32",  "",    "u8", "isize",
        "usize", "",     "i32",  "u32", "i128", "u128", "_",   "",   "",
        "i16",   "u16",  "()",   "...", "",     "i64",  "u64", "!",  "",
    };

    return names[letter >= 'a' && letter <= 'z' ? letter - 'a' : 26];
}

/* <const-data> ::= {hex-digit} "_". NULL: something else. */
static const char *nibbles(struct rust *x, uint32_t *count)
{
    const char *from = x->s;

    while (x->s < x->end &&
           ((*x->s >= '0' && *x->s <= '9') || (*x->s >= 'a' && *x->s <= 'f')))
        x->s++;
    *count = (uint32_t)(x->s - from);
    return rust_eat(x, '_') ? from : NULL;
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
    rust_print(x, value ? "true" : "false");
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
    if (rust_is_shown(c)) {
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

    if (!rust_is_char(value))
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

/* Everything but a literal needs braces outside of an expression: opens one,
 * unless f->a says it is inside. f->a becomes 2: the end closes it. */
static void rust_brace(struct rust *x, struct rust_frame *f)
{
    if (f->a == 0) {
        rust_print(x, "{");
        f->a = 2;
    }
}

/* <const> that is one literal, by its type's name. False: invalid, or of
 * another kind. */
static bool literal(struct rust *x, struct rust_frame *f)
{
    switch (*basic_type(f->b)) {
    case '_':
        rust_print(x, "_");
        return true;
    case 'i':
        if (rust_eat(x, 'n'))
            rust_print(x, "-"); /* fall through */
    case 'u':
        return print_number(x);
    case 'b':
        return print_bool(x);
    case 'c':
        return print_char(x);
    case 's':
        rust_brace(x, f);
        rust_print(x, "*");
        return print_text(x);
    default:
        return false;
    }
}

/* <const>, f->b being its type's letter. */
static void rust_const(struct rust *x, struct rust_frame *f)
{
    uint8_t row;
    bool good;

    if (!rust_ready(x))
        return;
    row = row_of(x, f);
    if (!rust_deeper(x))
        return;
    if (row == RUST_CONST_REFERENCE && rust_eat(x, 'e')) {
        row = 0;
        good = print_text(x);
    } else {
        good = row != 0 || literal(x, f);
    }
    if (good)
        go_on(x, f, row != 0 ? row : RUST_LITERAL);
    else
        rust_invalid(x);
}

static void identifier(struct rust *x)
{
    struct rust_ident ident;
    uint32_t which;

    if (rust_name(x, &which, &ident))
        rust_print_ident(x, &ident);
    else
        rust_invalid(x);
}

/* The <identifier> of "N" <namespace> <path> <identifier>. Upper-case
 * namespaces are closures and shims, printed with their disambiguator. */
static bool last_part(struct rust *x, char namespace)
{
    char letter[2] = {namespace, 0};
    struct rust_ident ident;
    uint32_t which;
    bool named;

    if (!rust_name(x, &which, &ident))
        return false;
    if (x->quiet > 0)
        return true;
    named = ident.ascii_bytes > 0 || ident.puny_bytes > 0;
    if (namespace >= 'A' && namespace <= 'Z') {
        rust_print(x, "::{");
        rust_print(x, namespace == 'C'   ? "closure"
                      : namespace == 'S' ? "shim"
                                         : letter);
        rust_print(x, named ? ":" : "");
        rust_print_ident(x, &ident);
        rust_print(x, "#");
        demangle_put_decimal(x->out, which);
        rust_print(x, "}");
    } else if (named) {
        demangle_put_bytes(x->out, "::", 2);
        rust_print_ident(x, &ident);
    }
    return true;
}

/* Most paths are a crate and a few names, NvNtNtC5crate..., and need no frames.
 * False, with nothing consumed: this is another kind of path. */
static bool short_path(struct rust *x)
{
    const char *s = x->s;
    struct rust_ident ident;
    uint32_t which;
    unsigned levels = 0;

    while (levels < 8 && s[0] == 'N' &&
           ((s[1] >= 'a' && s[1] <= 'z') || (s[1] >= 'A' && s[1] <= 'Z'))) {
        levels++;
        s += 2;
    }
    if (*s != 'C' || x->depth + levels >= RUST_DEPTH)
        return false;
    x->s = s + 1;
    if (!rust_name(x, &which, &ident)) {
        x->s -= levels * 2u + 1;
        return false;
    }
    rust_print_ident(x, &ident);
    for (unsigned i = 0; i < levels; i++) {
        if (last_part(x, s[-1 - 2 * (int)i]))
            continue;
        if (x->backs == 0)
            x->failed = true;
        rust_print(x, "{invalid syntax}");
        x->bad = true;
        while (++i < levels)
            rust_print(x, "?");
    }
    rust_done(x);
    return true;
}

/* <path>, f->b being its letter. */
static void rust_path(struct rust *x, struct rust_frame *f)
{
    uint8_t row;

    if (!rust_ready(x) || short_path(x) || !rust_deeper(x))
        return;
    row = row_of(x, f);
    if (row == RUST_NESTED) {
        row_of(x, f);
        if ((f->b | 0x20) < 'a' || (f->b | 0x20) > 'z')
            row = 0;
    }
    f->rule = row;
    if (row == 0)
        rust_invalid(x);
    else if (row == RUST_NESTED || row == RUST_GENERIC)
        rust_call(x, 0, RUST_PATH, f->a);
    else
        run_row(x, f);
}

/* <generic-arg> ::= <lifetime> | <type> | "K" <const> */
static void rust_arg(struct rust *x)
{
    if (!rust_eat(x, 'L'))
        rust_become(x, rust_eat(x, 'K') ? RUST_CONST : RUST_TYPE, 0);
    else if (print_lifetime(x, NULL, ""))
        rust_done(x);
}

/* <type>, f->b being its letter: a basic type, one of beginnings[], or a
 * path. */
static void rust_type(struct rust *x, struct rust_frame *f)
{
    const char *basic;
    uint8_t row;

    if (!rust_ready(x))
        return;
    row = row_of(x, f);
    basic = basic_type(f->b);
    if (*basic != 0) {
        rust_print(x, basic);
        rust_done(x);
        return;
    }
    if (!rust_deeper(x))
        return;
    if (f->b == 0) {
        rust_invalid(x);
    } else if (row != 0) {
        f->rule = row;
        run_row(x, f);
    } else {
        x->s--;
        f->rule = RUST_NAMED;
        rust_call(x, 0, RUST_PATH, 0);
    }
}

/* <abi> = "C" | <undisambiguated-identifier>, after the "K". The identifier
 * has '_' for each '-' of the ABI's name, such as "system-unwind". */
static bool abi(struct rust *x)
{
    struct rust_ident ident;

    if (rust_eat(x, 'C')) {
        rust_print(x, "extern \"C\" ");
        return true;
    }
    if (!rust_ident(x, &ident) || ident.ascii_bytes == 0 ||
        ident.puny_bytes > 0)
        return false;
    rust_print(x, "extern \"");
    for (uint16_t i = 0; i < ident.ascii_bytes && x->quiet == 0; i++)
        demangle_put_char(x->out, ident.ascii[i] == '_' ? '-' : ident.ascii[i]);
    rust_print(x, "\" ");
    return true;
}

/* clang-format off */
/* calls of rules: their number, and one more */
#define PATH "\1"         /* not as a value */
#define TYPE "\2"
#define CONST "\3"        /* within an expression */
#define OPEN_PATH "\4"
#define ARG "\5"
#define DYN_TRAIT "\6"
#define FIELD "\7"
/* others; a row ends with a return, as from a nesting level */
#define DONE "\10"        /* returns from what is none */
#define BECOME "\11"      /* the next rule */
#define VALUE_PATH "\12"  /* calls RUST_PATH as a value */
#define LIST "\13"        /* of the next rule, ", " or " + " between, to E */
#define BACK "\14"        /* calls the next rule at a back reference */
#define BACK_END "\15"
#define IDENTIFIER "\16"
#define LAST_PART "\17"   /* of a nested path, in the namespace f->b */
#define LIFETIME "\20"    /* if there is one, and a blank */
#define IMPL_PATH "\21"   /* [disambiguator] <path>, not printed */
#define LOUD "\22"        /* after it */
#define ARGUMENTS "\23"   /* "<", "::<" of a value */
#define SINGLE "\24"      /* ',' if the list had one element */
#define BRACE "\25"
#define END_BRACE "\26"
#define FIELDS "\27"
#define OPEN "\30"        /* x->open is true */
#define CLOSED "\31"
#define BINDER "\32"
#define UNBIND "\33"
#define ABI "\34"         /* ["U"] ["K" <abi>] */
#define RETURNED "\35"    /* a <type>; () is not printed */
#define BOUND "\36"       /* <lifetime>, printed if it is not erased */
#define ASSOCIATED "\37"  /* {"p" <undisambiguated-identifier> <type>} */

#define ROW(rule) [RUST_##rule - RUST_ROWS]
static const char rows[][16] = {
    /* Trait<Arguments, Name = Type> */
    ROW(DYN_TRAIT) = OPEN_PATH ASSOCIATED DONE,
    ROW(FIELD) = IDENTIFIER ": " BECOME CONST,
    ROW(CRATE) = IDENTIFIER,
    /* this, GENERIC and NAMED continue after a path */
    ROW(NESTED) = LAST_PART,
    ROW(IMPL) = IMPL_PATH LOUD "<" TYPE ">",
    ROW(TRAIT_IMPL) = IMPL_PATH LOUD "<" TYPE " as " PATH ">",
    ROW(TRAIT) = "<" TYPE " as " PATH ">",
    ROW(GENERIC) = ARGUMENTS LIST ARG ">",
    ROW(PATH_BACK) = BACK PATH BACK_END,
    ROW(REFERENCE) = "&" LIFETIME TYPE,
    ROW(MUT_REFERENCE) = "&" LIFETIME "mut " TYPE,
    ROW(POINTER) = "*const " TYPE,
    ROW(MUT_POINTER) = "*mut " TYPE,
    ROW(ARRAY) = "[" TYPE "; " CONST "]",
    ROW(SLICE) = "[" TYPE "]",
    ROW(TUPLE) = "(" LIST TYPE SINGLE ")",
    /* [<binder>] ["U"] ["K" <abi>] {<type>} "E" <type> */
    ROW(FN) = BINDER ABI "fn(" LIST TYPE ")" RETURNED UNBIND,
    /* [<binder>] {<dyn-trait>} "E" <lifetime> */
    ROW(DYN) = "dyn " BINDER LIST DYN_TRAIT UNBIND BOUND,
    ROW(TYPE_BACK) = BACK TYPE BACK_END,
    ROW(NAMED) = "",
    ROW(CONST_REFERENCE) = BRACE "&" CONST END_BRACE,
    ROW(CONST_MUT) = BRACE "&mut " CONST END_BRACE,
    ROW(CONST_ARRAY) = BRACE "[" LIST CONST "]" END_BRACE,
    ROW(CONST_TUPLE) = BRACE "(" LIST CONST SINGLE ")" END_BRACE,
    ROW(CONST_VARIANT) = BRACE VALUE_PATH FIELDS,
    ROW(CONST_BACK) = BACK CONST BACK_END END_BRACE,
    ROW(LITERAL) = END_BRACE,
    ROW(TUPLE_FIELDS) = "(" LIST CONST ")" END_BRACE,
    ROW(STRUCT_FIELDS) = " { " LIST FIELD " }" END_BRACE,
    ROW(OPEN_BACK) = CLOSED BACK OPEN_PATH BACK_END DONE,
    ROW(OPEN_GENERIC) = PATH "<" LIST ARG OPEN DONE,
    ROW(OPEN_OTHER) = PATH CLOSED DONE,
};
/* clang-format on */

/* fields ::= "U" | "T" {<const>} "E" | "S" {<field>} "E" */
static void fields(struct rust *x, struct rust_frame *f)
{
    if (!rust_ready(x))
        return;
    f->at = 0;
    if (rust_eat(x, 'U'))
        f->rule = RUST_LITERAL;
    else if (rust_eat(x, 'T'))
        f->rule = RUST_TUPLE_FIELDS;
    else if (rust_eat(x, 'S'))
        f->rule = RUST_STRUCT_FIELDS;
    else
        rust_invalid(x);
}

/* One more element of a list, by (rule), unless it ends here: by its 'E', which
 * is consumed. f->c counts them. */
static void list(struct rust *x, struct rust_frame *f, uint8_t rule)
{
    if (x->bad || rust_eat(x, 'E')) {
        f->at++;
        return;
    }
    if (f->c++ > 0)
        rust_print(x, rule == RUST_DYN_TRAIT ? " + " : ", ");
    rust_call(x, (uint8_t)(f->at - 1), rule, rule == RUST_CONST);
}

/* One more associated type, or the end of them. */
static void associated(struct rust *x, struct rust_frame *f)
{
    struct rust_ident ident;

    if (f->c++ == 0)
        f->a = x->open;
    if (!rust_eat(x, 'p')) {
        rust_print(x, f->a ? ">" : "");
        return;
    }
    rust_print(x, f->a ? ", " : "<");
    f->a = 1;
    if (!rust_ident(x, &ident)) {
        rust_invalid(x);
        return;
    }
    rust_print_ident(x, &ident);
    rust_print(x, " = ");
    rust_call(x, (uint8_t)(f->at - 1), RUST_TYPE, 0);
}

/* The steps of the rarer rows. */
static void rare_step(struct rust *x, struct rust_frame *f, char step)
{
    if (step == *BINDER) {
        if (!rust_binder(x, &f->a))
            rust_invalid(x);
    } else if (step == *UNBIND) {
        x->binders -= f->a;
    } else if (step == *ABI) {
        if (rust_eat(x, 'U'))
            rust_print(x, "unsafe ");
        if (rust_eat(x, 'K') && !abi(x)) {
            x->binders -= f->a;
            rust_invalid(x);
        }
    } else if (step == *RETURNED) {
        if (rust_eat(x, 'u'))
            return;
        rust_print(x, " -> ");
        rust_call(x, f->at, RUST_TYPE, 0);
    } else if (step == *BOUND) {
        if (rust_eat(x, 'L'))
            print_lifetime(x, " + ", "");
        else
            rust_invalid(x);
    } else if (step == *ASSOCIATED) {
        associated(x, f);
    } else if (step == *BRACE) {
        rust_brace(x, f);
    } else if (step == *FIELDS) {
        fields(x, f);
    } else if (step == *END_BRACE) {
        if (f->a == 2)
            rust_print(x, "}");
    } else if (step == *VALUE_PATH) {
        rust_call(x, f->at, RUST_PATH, 1);
    } else {
        x->open = step == *OPEN;
    }
}

/* (next): the rule after the step, if it has one. */
static void step(struct rust *x, struct rust_frame *f, char step, uint8_t next)
{
    uint32_t which;

    if (step == 0) {
        rust_leave(x);
    } else if (step <= *FIELD) {
        next = (uint8_t)(step - 1);
        rust_call(x, f->at, next, next == RUST_CONST);
    } else if (step == *LIST) {
        list(x, f, next);
    } else if (step == *BACK) {
        rust_back(x, f, (uint8_t)(f->at + 1), next, f->a);
    } else if (step == *BACK_END) {
        rust_back_again(x, f);
    } else if (step == *DONE) {
        rust_done(x);
    } else if (step == *BECOME) {
        rust_become(x, next, 1);
    } else if (step == *LAST_PART) {
        if (rust_ready(x) && !last_part(x, (char)f->b))
            rust_invalid(x);
    } else if (step == *IDENTIFIER) {
        if (rust_ready(x))
            identifier(x);
    } else if (step == *ARGUMENTS) {
        rust_print(x, f->a ? "::<" : "<");
    } else if (step == *LIFETIME) {
        if (rust_eat(x, 'L'))
            print_lifetime(x, "", " ");
    } else if (step == *IMPL_PATH) {
        if (rust_tagged(x, 's', &which)) {
            x->quiet++;
            rust_call(x, f->at, RUST_PATH, 0);
        } else {
            rust_invalid(x);
        }
    } else if (step == *LOUD) {
        x->quiet--;
    } else if (step == *SINGLE) {
        rust_print(x, f->c == 1 ? "," : "");
    } else {
        rare_step(x, f, step);
    }
}

static void run_row(struct rust *x, struct rust_frame *f)
{
    do {
        const char *s = rows[f->rule - RUST_ROWS] + f->at;
        const char *text = s;

        while (*s >= ' ')
            s++;
        if (s != text && x->quiet == 0)
            demangle_put_bytes(x->out, text, (size_t)(s - text));
        f->at = (uint8_t)(f->at + (s - text) + 1);
        step(x, f, *s, (uint8_t)(s[1] - 1));
    } while (x->frame == f && f->rule >= RUST_ROWS && !x->failed);
}

static void run_rule(struct rust *x, struct rust_frame *f)
{
    switch (f->rule) {
    case RUST_PATH:
        rust_path(x, f);
        break;
    case RUST_TYPE:
        rust_type(x, f);
        break;
    case RUST_CONST:
        rust_const(x, f);
        break;
    case RUST_ARG:
        rust_arg(x);
        break;
    case RUST_OPEN_PATH:
        go_on(x, f,
              rust_eat(x, 'B')   ? RUST_OPEN_BACK
              : rust_eat(x, 'I') ? RUST_OPEN_GENERIC
                                 : RUST_OPEN_OTHER);
        break;
    default:
        run_row(x, f);
    }
}

/* Parses one <path> from x->s. (checking): nothing is printed and no back
 * reference followed, so it is linear and costs no budget. False: it is
 * invalid, or room or budget are exhausted. */
static bool parse_path(struct rust *x, bool checking)
{
    x->frame = x->floor;
    x->quiet = checking;
    x->depth = 0;
    x->backs = 0;
    x->bad = false;
    push(x, RUST_PATH, 1);
    while (x->frame != x->floor) {
        if (!checking &&
            (x->out->length > x->out->room || !demangle_pay(x->out, 1)))
            return false;
        run_rule(x, x->frame);
        if (x->failed)
            return false;
    }
    return !x->bad;
}

const char *rust_end(const char *name, const char *end)
{
    static const char mark[] = ".llvm.";
    const unsigned length = sizeof mark - 1;

    for (const char *s = name; end - s >= (ptrdiff_t)length; s++) {
        const char *rest = s + length;

        if (*s != '.' || __builtin_memcmp(s, mark, length) != 0)
            continue;
        while (rest < end && ((*rest >= '0' && *rest <= '9') || *rest == '@' ||
                              (*rest >= 'A' && *rest <= 'F')))
            rest++;
        return rest == end ? s : end;
    }
    return end;
}

bool rust_is_suffix(const char *s, const char *end)
{
    if (s == end)
        return true;
    if (*s != '.')
        return false;
    for (; s < end; s++)
        if (*s <= ' ' || *s >= 0x7f)
            return false;
    return true;
}

/* <symbol-name> ::= "_R" <path> [<instantiating-crate>], the crate being a
 * path that is not printed, and then a vendor-specific suffix, which is. */
bool prof_rust_v0(struct demangle_buffer *out, const char *name, size_t bytes,
                  void *work, size_t work_bytes)
{
    struct rust *x = work;
    uint32_t *characters = (uint32_t *)(void *)(x + 1);
    struct rust_frame *frames =
        (struct rust_frame *)(void *)(characters + RUST_PUNYCODE);
    size_t left = work_bytes - (size_t)((char *)frames - (char *)work);

    if (bytes < 4 || name[0] != '_' || name[1] != 'R' || name[2] < 'A' ||
        name[2] > 'Z')
        return false;
    *x = (struct rust){
        .text = name + 2,
        .s = name + 2,
        .end = name + bytes,
        .out = out,
        .floor = frames,
        .ceiling = frames + left / sizeof *frames - 1,
        .characters = characters,
    };
    if (!parse_path(x, false)) {
        x->s = x->text;
        if (x->failed || !parse_path(x, true))
            return false;
    }
    if (x->s < x->end && *x->s >= 'A' && *x->s <= 'Z' && !parse_path(x, true))
        return false;
    x->end = rust_end(x->s, x->end);
    if (!rust_is_suffix(x->s, x->end))
        return false;
    if (out->steps > 0 && out->length <= out->room)
        demangle_put_bytes(out, x->s, (size_t)(x->end - x->s));
    return true;
}
