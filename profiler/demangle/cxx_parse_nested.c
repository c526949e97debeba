/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: nested, local and unqualified names (ABI 5.1.3, 5.1.4,
 * 5.1.8).
 *
 * Every prefix of a nested name becomes a substitution. The whole name becomes
 * one only if it is a type (CXX_R_NESTED_TYPE).
 *
 * GNU counts unnamed types, and a decltype at the beginning of a name, once
 * more than the ABI does. A name is parsed GNU's way first, and the ABI's way
 * (x->strict) if that fails.
 */

#include "demangle/cxx_parse.h"

/* [<CV-qualifiers>] [<ref-qualifier>] of a member function: a chain of nodes
 * from the outermost (*head) to the innermost (*tail), whose operand is set
 * when the name is known. */
static void member_qualifiers(struct cxx *x, uint16_t *head, uint16_t *tail)
{
    for (;;) {
        uint8_t kind = prof_cxx_modifier(*x->s);
        uint16_t node;

        if (kind < CXX_LREF || kind > CXX_RESTRICT)
            return;
        x->s++;
        if (kind < CXX_CONST) {
            kind = (uint8_t)(kind - CXX_LREF + CXX_F_LREF);
            *head = prof_cxx_node(x, kind, *head, 0, 0);
            if (*tail == 0)
                *tail = *head;
            return;
        }
        kind = (uint8_t)(kind - CXX_CONST + CXX_F_CONST);
        node = prof_cxx_node(x, kind, 0, 0, 0);
        if (*tail == 0)
            *head = node;
        else
            cxx_at(x, *tail)->a = node;
        *tail = node;
    }
}

/* A run of <source-name> [<abi-tags>] components, the most frequent kind. */
static void nested_words(struct cxx *x, struct cxx_frame *f)
{
    uint16_t scope = f->a;

    do {
        uint16_t name = prof_cxx_source_name(x);

        if (*x->s == 'B')
            name = prof_cxx_tags(x, name);
        if (scope != 0)
            name = prof_cxx_pair(x, CXX_QUAL, scope, name);
        scope = name;
        if (x->failed)
            return;
        if (*x->s != 'E')
            cxx_remember(x, name);
    } while (cxx_is_digit(*x->s));
    f->a = scope;
}

/* At 'E'. A type becomes a substitution unless it is an abbreviation. */
static void nested_end(struct cxx *x, struct cxx_frame *f)
{
    x->s++;
    if (f->a != 0 && f->c != 0) {
        cxx_at(x, f->c)->a = f->a;
        f->a = f->b;
    }
    if (f->rule == CXX_R_NESTED_TYPE && cxx_at(x, f->a)->kind != CXX_STD)
        cxx_remember(x, f->a);
    prof_cxx_give(x, f->a);
}

/* At 'S': "St", an abbreviation, an earlier prefix or a module. */
static void nested_substitution(struct cxx *x, struct cxx_frame *f)
{
    uint16_t sub;

    if (x->s[1] == 't') {
        x->s += 2;
        if (f->a != 0)
            cxx_fail(x);
        f->a = prof_cxx_word(x, CXX_WORD, CXX_W_STD, 0);
        return;
    }
    sub = prof_cxx_substitution(x, true);
    if (cxx_at(x, sub)->kind == CXX_MODULE) {
        prof_cxx_call(x, 3, CXX_R_UNQUALIFIED, f->a);
        x->frame->b = sub;
    } else if (f->a != 0) {
        cxx_fail(x);
    } else {
        f->a = sub;
    }
}

/* Parses the next component of the prefix, or the end of the name. f->a prefix
 * so far, f->b and f->c the ends of the chain of qualifiers. */
static void nested_next(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;

    if (c == 'E') {
        nested_end(x, f);
    } else if (c == 'I' && f->a != 0) {
        prof_cxx_call(x, 2, CXX_R_ARGS, 0);
    } else if (c == 'S') {
        nested_substitution(x, f);
    } else if (c == 'T' && f->a == 0) {
        f->a = prof_cxx_tparam_leaf(x);
        f->at = 4;
    } else if (c == 'D' && (x->s[1] == 't' || x->s[1] == 'T')) {
        if (f->a != 0)
            cxx_fail(x);
        prof_cxx_call(x, 5, CXX_R_TYPE, 0);
    } else if (c == 'M' && f->a != 0) {
        x->s++;
    } else if (c == 0 || c == 'I' || c == 'T') {
        cxx_fail(x);
    } else {
        prof_cxx_call(x, 3, CXX_R_UNQUALIFIED, f->a);
    }
}

/*
 * <nested-name> ::= N [<CV-qualifiers>] [<ref-qualifier>] <prefix>
 *                   <unqualified-name> E
 *               ::= N H ...                       explicit object (C++23)
 * State 4: a component was added, which becomes a substitution unless it is the
 * last.
 */
void prof_cxx_nested(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        x->s++;
        if (cxx_take(x, 'H'))
            x->llvm = true;
        member_qualifiers(x, &f->b, &f->c);
        f->at = 1;
        break;
    case 2:
        f->a = prof_cxx_pair(x, CXX_TEMPLATE, f->a, x->ret);
        f->at = 4;
        break;
    case 3:
        f->a = x->ret;
        f->at = 4;
        break;
    case 5:
        f->a = x->ret; /* decltype, a substitution already */
        f->at = x->strict ? 1 : 4;
        x->retry = true;
        break;
    default:
        break;
    }
    if (f->at == 4 && *x->s != 'E')
        cxx_remember(x, f->a);
    f->at = 1;
    do {
        if (cxx_is_digit(*x->s))
            nested_words(x, f);
        if (x->failed)
            return;
        nested_next(x, f);
    } while (x->frame == f && f->at == 1);
}

/* <discriminator> ::= _ <number> | __ <number of two or more digits> _
 * Distinguishes local entities of the same name; not printed. */
static void discriminator(struct cxx *x)
{
    const char *from;
    bool two;

    if (*x->s != '_' || (x->block && !cxx_is_digit(x->s[1])))
        return;
    x->s++;
    two = cxx_take(x, '_');
    from = x->s;
    prof_cxx_skip_digits(x);
    if (two && x->s - from > 1)
        cxx_want(x, '_');
}

/* State 1 of a local name, after the enclosing function, whose return type GNU
 * does not print. */
static void local_entity(struct cxx *x, struct cxx_frame *f)
{
    f->a = x->ret;
    cxx_at(x, f->a)->flags |= CXX_AROUND_LOCAL;
    cxx_want(x, 'E');
    if (x->failed)
        return;
    if (cxx_take(x, 's')) {
        uint16_t name = prof_cxx_word(x, CXX_WORD, CXX_W_STRING_LITERAL, 0);

        discriminator(x);
        prof_cxx_give_node(x, CXX_LOCAL, f->a, name, 0);
        return;
    }
    if (cxx_take(x, 'd'))
        f->b = (uint16_t)(prof_cxx_compact(x) + 1);
    prof_cxx_call(x, 2, CXX_R_NAME, 0);
}

/* <local-name> ::= Z <encoding> E <entity name> [<discriminator>]
 *              ::= Z <encoding> E s [<discriminator>]       string literal
 *              ::= Z <encoding> E d [<number>] _ <name>     default argument
 */
void prof_cxx_local(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        x->s++;
        x->nested++;
        prof_cxx_call(x, 1, CXX_R_ENCODING, 0);
    } else if (f->at == 1) {
        x->nested--;
        local_entity(x, f);
    } else {
        uint16_t name = x->ret;

        if (f->b != 0)
            name = prof_cxx_node(x, CXX_DEFAULT_ARG, name, 0, f->b);
        else if (cxx_at(x, name)->kind != CXX_LAMBDA &&
                 cxx_at(x, name)->kind != CXX_UNNAMED)
            discriminator(x);
        prof_cxx_give_node(x, CXX_LOCAL, f->a, name, 0);
    }
}

/* A constructor or destructor of the class (node). */
static uint16_t structor_of(struct cxx *x, uint8_t kind, uint16_t node)
{
    uint16_t base = prof_cxx_base_name(x, node);
    const struct cxx_node *n = cxx_at(x, base);
    bool flat =
        (n->kind == CXX_NAME && n->flags & CXX_FLAT) || n->kind == CXX_STD;

    return prof_cxx_node(x, CXX_IS(kind, flat ? CXX_FLAT_LEAF : 0), base, 0, 0);
}

/* <ctor-dtor-name> ::= C1 to C5 | CI1 <type> | CI2 <type> | D0 to D5. An
 * inherited constructor has the name of the base class. */
static void structor(struct cxx *x, struct cxx_frame *f)
{
    uint8_t kind = *x->s == 'C' ? CXX_CTOR : CXX_DTOR;
    bool inherited;

    x->s++;
    inherited = kind == CXX_CTOR && cxx_take(x, 'I');
    if (f->a == 0 || *x->s < (kind == CXX_CTOR ? '1' : '0') || *x->s > '5') {
        cxx_fail(x);
        return;
    }
    x->s++;
    if (inherited)
        prof_cxx_call(x, 3, CXX_R_TYPE, 0);
    else
        f->c = structor_of(x, kind, f->a);
}

/* Flag in f->b of an unqualified name, beside the module: a friend function
 * defined in a class, printed with the class's name before its own (F). */
#define FRIEND 0x8000u

/* State 0 of an unqualified name: its name without tags and scope is f->c, or
 * x->ret if a rule was called. */
static void unqualified_begin(struct cxx *x, struct cxx_frame *f)
{
    char c;

    if (*x->s == 'W' && !prof_cxx_module(x, &f->b))
        return;
    if (cxx_take(x, 'F')) {
        x->llvm = true;
        f->b |= FRIEND;
    }
    c = *x->s;
    f->at = 1;
    if (cxx_is_digit(c)) {
        f->c = prof_cxx_source_name(x);
    } else if (cxx_is_lower(c)) {
        if (c == 'o' && x->s[1] == 'n')
            x->s += 2;
        prof_cxx_call(x, 2, CXX_R_OPERATOR, 0);
    } else if (c == 'D' && x->s[1] == 'C') {
        prof_cxx_call(x, 2, CXX_R_BINDING, 0);
    } else if (c == 'C' || c == 'D') {
        structor(x, f);
    } else if (c == 'L') {
        x->s++;
        f->c = prof_cxx_source_name(x);
        if (!x->failed)
            discriminator(x);
    } else if (c == 'U' && x->s[1] == 'l') {
        prof_cxx_call(x, 2, CXX_R_LAMBDA, 0);
    } else if (c == 'U' && x->s[1] == 't') {
        x->s += 2;
        f->c = prof_cxx_node(x, CXX_UNNAMED, 0, 0, prof_cxx_compact(x));
        x->retry = true;
        if (!x->strict)
            cxx_remember(x, f->c);
    } else {
        cxx_fail(x);
    }
}

/* <unqualified-name> ::= [<module-name>] [F] [L] <operator-name> [<abi-tags>]
 *                    ::= ... <source-name> | <ctor-dtor-name> | Ut [<n>] _
 *                    ::= ... DC <source-name>+ E | Ul <lambda-sig> E [<n>] _
 */
void prof_cxx_unqualified(struct cxx *x, struct cxx_frame *f)
{
    uint16_t module;

    if (f->at == 0) {
        unqualified_begin(x, f);
        if (x->failed || x->frame != f)
            return;
    } else if (f->at == 2) {
        f->c = x->ret;
    } else if (f->at == 3) {
        f->c = structor_of(x, CXX_CTOR, x->ret);
    }
    module = f->b & (FRIEND - 1);
    if (module != 0)
        f->c = prof_cxx_node(x, CXX_ENTITY, f->c, module, 0);
    f->c = prof_cxx_tags(x, f->c);
    if (x->failed)
        return;
    if (f->b & FRIEND)
        f->c = prof_cxx_node(x, CXX_FRIEND, f->c, 0, 0);
    if (f->a != 0)
        f->c = prof_cxx_pair(x, CXX_QUAL, f->a, f->c);
    prof_cxx_give(x, f->c);
}
