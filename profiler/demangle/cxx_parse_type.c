/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: types (ABI 5.1.5).
 *
 * Every type except a builtin one becomes a substitution after it was parsed.
 */

#include "demangle/cxx_parse.h"

uint8_t prof_cxx_modifier(char c)
{
    static const uint8_t kinds['r' - 'C' + 1] = {
        ['P' - 'C'] = CXX_POINTER,   ['R' - 'C'] = CXX_LREF,
        ['O' - 'C'] = CXX_RREF,      ['C' - 'C'] = CXX_COMPLEX,
        ['G' - 'C'] = CXX_IMAGINARY, ['K' - 'C'] = CXX_CONST,
        ['V' - 'C'] = CXX_VOLATILE,  ['r' - 'C'] = CXX_RESTRICT,
    };
    unsigned i = (unsigned)((unsigned char)c - 'C');

    return i < sizeof kinds ? kinds[i] : 0;
}

/* The same, but a cv-qualifier is handled here only if it is the only one and
 * does not precede a function. */
static uint8_t modifier(const char *s)
{
    uint8_t kind = prof_cxx_modifier(*s);

    if (kind >= CXX_CONST && kind <= CXX_RESTRICT &&
        (s[1] == 'r' || s[1] == 'V' || s[1] == 'K' || s[1] == 'F' ||
         s[1] == 'D'))
        return 0;
    return kind;
}

/* After the name f->a of a class or template, which is a new substitution
 * unless (known): <class-enum-type> | <template-template-param>
 * <template-args>. */
static void class_name(struct cxx *x, struct cxx_frame *f, bool known)
{
    if (x->failed)
        return;
    if (!known)
        cxx_remember(x, f->a);
    if (*x->s == 'I')
        prof_cxx_call(x, 2, CXX_R_ARGS, 0);
    else
        prof_cxx_give(x, f->a);
}

/* A type that begins with 'S': an earlier type or template, or a name in std.
 * Rare forms are parsed again from 'S' as a <name>. */
static void substituted(struct cxx *x, struct cxx_frame *f)
{
    const char *s = x->s;

    if (s[1] != 't') {
        f->a = prof_cxx_substitution(x, false);
        if (x->failed || cxx_at(x, f->a)->kind != CXX_MODULE) {
            class_name(x, f, true);
            return;
        }
    } else if (cxx_is_digit(s[2])) {
        x->s += 2;
        f->a = prof_cxx_word(x, CXX_WORD, CXX_W_STD, 0);
        f->a = prof_cxx_pair(x, CXX_QUAL, f->a, prof_cxx_source_name(x));
        if (*x->s != 'B') {
            class_name(x, f, false);
            return;
        }
    }
    x->s = s;
    prof_cxx_call(x, 6, CXX_R_NAME, 0);
}

/* Ts, Tu, Te <name>: an elaborated type, "struct", "union" or "enum". */
static bool is_elaborated(const struct cxx *x)
{
    char kind = x->s[1];

    return (kind == 's' || kind == 'u' || kind == 'e') &&
           (cxx_is_digit(x->s[2]) || x->s[2] == 'N' || x->s[2] == 'S' ||
            x->s[2] == 'Z');
}

/* A cv-qualifier is printed once, so a repeated one needs a closer look. */
static uint16_t modified(struct cxx *x, uint8_t kind, uint16_t node)
{
    const struct cxx_node *n = cxx_at(x, node);
    unsigned flat = n->flags & CXX_FLAT;

    if (kind > CXX_RESTRICT ||
        (kind >= CXX_CONST && n->kind >= CXX_CONST && n->kind <= CXX_RESTRICT))
        flat = 0;
    return prof_cxx_node(x, CXX_IS(kind, flat), node, 0, 0);
}

/* Applies the modifiers, f->c letters from f->b on, to the type x->ret. The
 * last letter binds first; each result is a substitution. */
static void modify(struct cxx *x, struct cxx_frame *f)
{
    const char *from = x->text + f->b;
    uint16_t node = x->ret;

    if (x->nested > 0 && !x->strict && cxx_at(x, node)->kind == CXX_TPARAM)
        x->smashing = true;
    for (const char *s = from + f->c; s != from && !x->failed;) {
        node = modified(x, modifier(--s), node);
        cxx_remember(x, node);
    }
    prof_cxx_give(x, node);
}

/* Consumes the modifiers at the beginning of a type, and parses the type; false
 * if there are none. */
static bool take_modifiers(struct cxx *x, struct cxx_frame *f)
{
    const char *from = x->s;

    while (modifier(x->s) != 0)
        x->s++;
    if (x->s == from)
        return false;
    f->b = (uint16_t)(from - x->text);
    f->c = (uint16_t)(x->s - from);
    if (prof_cxx_read_type(x, 1))
        modify(x, f);
    return true;
}

/* The rule for types that begin with (c), 0 if type_begin() decides. */
static uint8_t rule_of(char c)
{
    switch (c) {
    case 'r':
    case 'V':
    case 'K':
        return CXX_R_QUALIFIED;
    case 'D':
        return CXX_R_TYPE_D;
    case 'A':
        return CXX_R_ARRAY;
    case 'M':
        return CXX_R_MEMBER;
    case 'U':
        return CXX_R_VENDOR_QUAL;
    case 'u':
        return CXX_R_VENDOR;
    case 'N':
        return CXX_R_NESTED_TYPE;
    default:
        return 0;
    }
}

/* A type that begins with T: elaborated, or a template parameter. */
static void type_t(struct cxx *x, struct cxx_frame *f)
{
    char kind = x->s[1];

    if (!is_elaborated(x)) {
        prof_cxx_become(x, CXX_R_TPARAM, 0);
        prof_cxx_tparam(x, f);
        return;
    }
    f->c = kind == 's' ? CXX_E_STRUCT : kind == 'u' ? CXX_E_UNION : CXX_E_ENUM;
    x->llvm = true;
    x->s += 2;
    prof_cxx_call(x, 4, CXX_R_NAME, 0);
}

/* <class-enum-type> ::= <source-name>, the most frequent form. With ABI tags it
 * is parsed again as a <name>. */
static void type_word(struct cxx *x, struct cxx_frame *f)
{
    const char *s = x->s;

    f->a = prof_cxx_source_name(x);
    if (*x->s == 'B' || x->failed) {
        x->s = s;
        prof_cxx_call(x, 6, CXX_R_NAME, 0);
        return;
    }
    class_name(x, f, false);
}

/* State 0 of <type>: chooses by the first letter. */
static void type_begin(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;
    uint8_t rule;

    if (take_modifiers(x, f))
        return;
    rule = rule_of(c);
    if (rule != 0)
        prof_cxx_become(x, rule, 0);
    else if (c == 'S')
        substituted(x, f);
    else if (c == 'T')
        type_t(x, f);
    else if (c == 'F')
        prof_cxx_call(x, 3, CXX_R_FUNCTION, 0);
    else if (c == 'Z' || c == 'W')
        prof_cxx_call(x, 6, CXX_R_NAME, 0);
    else
        type_word(x, f);
}

void prof_cxx_type(struct cxx *x, struct cxx_frame *f)
{
    uint16_t node = x->ret;

    switch (f->at) {
    case 0:
        type_begin(x, f);
        return;
    case 1:
        modify(x, f);
        return;
    case 2:
        node = prof_cxx_pair(x, CXX_TEMPLATE, f->a, node);
        break;
    case 3:
        break;
    case 4:
        node = prof_cxx_node(x, CXX_ELABORATED, node, 0, f->c);
        break;
    default:
        if (cxx_at(x, node)->kind == CXX_STD) {
            prof_cxx_give(x, node);
            return;
        }
        break;
    }
    prof_cxx_give_new(x, node);
}

/* A type that begins with D: a builtin type, function qualifiers, or a form. */
void prof_cxx_type_d(struct cxx *x, struct cxx_frame *f)
{
    char c = x->s[1];
    uint16_t builtin = c == 0 ? 0xffff : prof_cxx_builtin_d(c);

    (void)f;
    if (c == 'o' || c == 'O' || c == 'w' || c == 'x') {
        prof_cxx_become(x, CXX_R_QUALIFIED, 0);
    } else if (builtin != 0xffff) {
        x->s += 2;
        prof_cxx_give(x, prof_cxx_word(x, CXX_BUILTIN, builtin, 0));
    } else if (!prof_cxx_begin(x)) {
        cxx_fail(x);
    }
}
