/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: encodings, special names and names (ABI 5.1.2 to 5.1.4,
 * 5.1.8).
 *
 * The name of a template becomes a substitution before its arguments are
 * parsed, and so does every prefix of a nested name. The whole nested name
 * becomes one only if it is a type (CXX_R_NESTED_TYPE).
 *
 * GNU counts unnamed types, and a decltype at the beginning of a name, once
 * more than the ABI does. A name is parsed GNU's way first, and the ABI's way
 * (x->strict) if that fails.
 */

#include "demangle/cxx_parse.h"

/* The last component of (node): the name of a constructor in it. */
static uint32_t cxx_base_name(const struct cxx *x, uint32_t node)
{
    for (;;) {
        const struct cxx_node *n = cxx_at(x, node);

        switch (n->kind) {
        case CXX_QUAL: {
            uint8_t last = cxx_at(x, n->b)->kind;

            node = last == CXX_UNNAMED || last == CXX_LAMBDA ? n->a : n->b;
            break;
        }
        case CXX_LOCAL:
            node = n->b;
            break;
        case CXX_TAGGED:
        case CXX_TEMPLATE:
        case CXX_ENTITY:
        case CXX_DEFAULT_ARG:
            node = n->a;
            break;
        default:
            return node;
        }
    }
}

/* Whether the encoding of a function with this name includes the return type:
 * that of a template does, unless it is a constructor, destructor or conversion
 * (ABI 5.1.5.3). */
static bool has_return(const struct cxx *x, uint32_t node)
{
    const struct cxx_node *n = cxx_at(x, node);

    while (n->kind == CXX_LOCAL || n->kind == CXX_DEFAULT_ARG ||
           (n->kind >= CXX_F_CONST && n->kind <= CXX_F_THROW))
        n = cxx_at(x, n->kind == CXX_LOCAL ? n->b : n->a);
    if (n->kind != CXX_TEMPLATE)
        return false;
    n = cxx_at(x, cxx_base_name(x, n->a));
    return n->kind != CXX_CTOR && n->kind != CXX_DTOR &&
           n->kind != CXX_CONVERSION;
}

static bool at_encoding_end(const struct cxx *x)
{
    char c = *x->s;

    return c == 0 || c == 'E' || c == '.' || (x->block && c == '_');
}

/* Parses the type of the function named f->b. The common "v" at the end of a
 * name needs no rule. True: the type is in x->ret. False: a rule was called. */
static bool encoding_type(struct cxx *x, struct cxx_frame *f)
{
    bool returns = has_return(x, f->b);

    if (x->s[0] == 'v' && x->s[1] == 0 && !returns) {
        x->s++;
        x->ret = cxx_node(x, CXX_FUNCTION, 0, 0, 0);
        return true;
    }
    cxx_call(x, 2, CXX_R_BARE, returns);
    return cxx_run(x, f, cxx_bare);
}

/* Marks the first parameter as the explicit object ("this Type"; C++23). */
static void mark_this(struct cxx *x, uint32_t function)
{
    uint32_t list = cxx_at(x, function)->b;
    struct cxx_node *first = cxx_at(x, list);

    if (list == 0)
        return;
    first->flags = 0;
    first->a = cxx_node(x, CXX_ELABORATED, first->a, 0, 't');
}

/* <encoding> ::= <function name> <bare-function-type> [Q <constraint>]
 *            ::= <data name> | <special-name>
 * f->b name, f->c function type; until state 2, f->c is whether there is an
 * explicit object parameter (N H). */
void cxx_encoding(struct cxx *x, struct cxx_frame *f)
{
    bool explicit;

    switch (f->at) {
    case 0:
        if (*x->s == 'G' || *x->s == 'T') {
            cxx_become(x, CXX_R_SPECIAL, 0);
            return;
        }
        if (*x->s != 'N') {
            cxx_call(x, 1, CXX_R_NAME, 0);
            return;
        }
        f->c = x->s[1] == 'H';
        cxx_call(x, 1, CXX_R_NESTED, 0);
        if (!cxx_run(x, f, cxx_nested))
            return; /* fall through */
    case 1:
        f->b = x->ret;
        if (at_encoding_end(x)) {
            if (*x->s == '.')
                x->llvm = true;
            cxx_give(x, f->b);
            return;
        }
        if (!encoding_type(x, f))
            return; /* fall through */
    case 2:
        explicit = f->c;
        f->c = x->ret;
        if (explicit)
            mark_this(x, f->c);
        if (cxx_take(x, 'Q')) {
            x->llvm = true;
            cxx_call(x, 3, CXX_R_EXPR, 0);
            return;
        }
        x->ret = 0;
        break;
    default:
        break;
    }
    cxx_give_node(x, CXX_TYPED, f->b, f->c, x->ret);
}

/* <special-name>: TV <type>, TI <type>, GV <name>, Th <call-offset> <encoding>,
 * ... The table says what follows the two letters. */
void cxx_special(struct cxx *x, struct cxx_frame *f)
{
    uint32_t i =
        cxx_find(x->s, cxx_specials, sizeof *cxx_specials, CXX_S_TEMPORARY);

    if (i == CXX_S_TEMPORARY) {
        cxx_fail(x);
        return;
    }
    x->s += 2;
    cxx_become(x, (uint8_t)(CXX_R_SPECIAL_OF + cxx_specials[i].shape), 0);
    f->c = i;
}

/* Gr <number> _ <text>: GCC's Java resource. Its escapes are expanded when it
 * is printed. */
void cxx_resource(struct cxx *x, struct cxx_frame *f)
{
    uint32_t bytes = cxx_number(x);
    uint32_t name;

    (void)f;
    if (x->failed || bytes < 2 || bytes > (uint32_t)(x->end - x->s)) {
        cxx_fail(x);
        return;
    }
    cxx_want(x, '_');
    name = cxx_node(x, CXX_NAME, x->s - x->text, bytes - 1, 1);
    x->s += bytes - 1;
    cxx_give(x, name);
}

/* GR <name> [<seq-id>] _, a reference temporary. GNU expects a plain number;
 * what compilers emit ends with '_', and only LLVM accepts that. */
void cxx_temporary(struct cxx *x, struct cxx_frame *f)
{
    const char *from = x->s;
    uint32_t number;

    while (cxx_is_digit(*x->s) || cxx_is_upper(*x->s))
        x->s++;
    if (cxx_take(x, '_')) {
        x->llvm = true;
        cxx_give_node(x, CXX_SPECIAL, x->ret, 0, CXX_S_TEMPORARY);
        return;
    }
    x->s = from;
    if (cxx_is_digit(*from))
        number = cxx_digits(x);
    else
        number = cxx_word(x, CXX_WORD, CXX_W_ZERO, 0);
    cxx_give_node(x, CXX_SPECIAL, number, x->ret, f->c);
}

/* Whether a list of parameter types ends here. Consumes nothing. */
static bool at_parameters_end(const struct cxx *x)
{
    char c = *x->s;

    if (c == 0 || c == 'E' || c == '.' || c == 'Q' || (x->block && c == '_'))
        return true;
    return (c == 'R' || c == 'O') && x->s[1] == 'E';
}

uint32_t cxx_no_void(const struct cxx *x, uint32_t list)
{
    const struct cxx_node *n = cxx_at(x, list);
    const struct cxx_node *only = cxx_at(x, n->a);
    bool none =
        n->a == 0 || (only->kind == CXX_BUILTIN && only->a == 'v' - 'a');

    return n->b == 0 && none ? 0 : list;
}

/* <bare-function-type> ::= [J] <type>+. f->a: 1 if the first is the return
 * type, then that type; f->b and f->c: the list of parameters. */
void cxx_bare(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        if (cxx_take(x, 'J'))
            f->a = 1;
        if (f->a) {
            cxx_call(x, 1, CXX_R_TYPE, 0);
            return;
        }
    } else if (f->at == 1) {
        f->a = x->ret;
    } else {
        cxx_append(x, &f->b, &f->c, x->ret);
    }
    /* There is at least one parameter; most need no frame. */
    while (f->b == 0 || !at_parameters_end(x)) {
        if (!cxx_read_type(x, 2))
            return;
        cxx_append(x, &f->b, &f->c, x->ret);
    }
    cxx_give_node(x, CXX_FUNCTION, f->a,
                  cxx_no_void(x, cxx_list(x, f->b, f->c)), 0);
}

/* State 0 of <name>. f->a becomes 1 if the template's name already is a
 * substitution and must not become another. */
static void name_begin(struct cxx *x, struct cxx_frame *f)
{
    uint32_t scope = 0;

    switch (*x->s) {
    case 'N':
        cxx_become(x, CXX_R_NESTED, 0);
        return;
    case 'Z':
        cxx_become(x, CXX_R_LOCAL, 0);
        return;
    case 'S':
        if (x->s[1] == 't') {
            x->s += 2;
            scope = cxx_word(x, CXX_WORD, CXX_W_STD, 0);
            break;
        }
        f->b = cxx_substitution(x, false);
        if (x->failed)
            return;
        if (cxx_at(x, f->b)->kind == CXX_MODULE)
            break;
        f->a = 1;
        x->ret = f->b;
        f->at = 1;
        cxx_name(x, f);
        return;
    default:
        break;
    }
    cxx_call(x, 1, CXX_R_UNQUALIFIED, scope);
    x->frame->b = f->b;
}

/* <name> ::= <nested-name> | <local-name> | <unscoped-name>
 *        ::= <unscoped-template-name> <template-args> */
void cxx_name(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        name_begin(x, f);
        return;
    case 1:
        if (*x->s != 'I') {
            cxx_give(x, x->ret);
            return;
        }
        if (!f->a)
            cxx_remember(x, x->ret);
        f->b = x->ret;
        cxx_call(x, 2, CXX_R_ARGS, 0);
        return;
    default:
        cxx_give(x, cxx_pair(x, CXX_TEMPLATE, f->b, x->ret));
    }
}

/* [<CV-qualifiers>] [<ref-qualifier>] of a member function: a chain of nodes
 * from the outermost (*head) to the innermost (*tail), whose operand is set
 * when the name is known. */
static void member_qualifiers(struct cxx *x, uint16_t *head, uint16_t *tail)
{
    for (;;) {
        uint8_t kind = cxx_modifier(*x->s);
        uint32_t node;

        if (kind < CXX_LREF || kind > CXX_RESTRICT)
            return;
        x->s++;
        if (kind < CXX_CONST) {
            kind = (uint8_t)(kind - CXX_LREF + CXX_F_LREF);
            *head = cxx_node(x, kind, *head, 0, 0);
            if (*tail == 0)
                *tail = *head;
            return;
        }
        kind = (uint8_t)(kind - CXX_CONST + CXX_F_CONST);
        node = cxx_node(x, kind, 0, 0, 0);
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
    uint32_t scope = f->a;

    do {
        uint32_t name = cxx_source_name(x);

        if (*x->s == 'B')
            name = cxx_tags(x, name);
        if (scope != 0)
            name = cxx_pair(x, CXX_QUAL, scope, name);
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
    cxx_give(x, f->a);
}

/* At 'S': "St", an abbreviation, an earlier prefix or a module. */
static void nested_substitution(struct cxx *x, struct cxx_frame *f)
{
    uint32_t sub;

    if (x->s[1] == 't') {
        x->s += 2;
        if (f->a != 0)
            cxx_fail(x);
        f->a = cxx_word(x, CXX_WORD, CXX_W_STD, 0);
        return;
    }
    sub = cxx_substitution(x, true);
    if (cxx_at(x, sub)->kind == CXX_MODULE) {
        cxx_call(x, 3, CXX_R_UNQUALIFIED, f->a);
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
        cxx_call(x, 2, CXX_R_ARGS, 0);
    } else if (c == 'S') {
        nested_substitution(x, f);
    } else if (c == 'T' && f->a == 0) {
        f->a = cxx_tparam_leaf(x);
        f->at = 4;
    } else if (c == 'D' && (x->s[1] == 't' || x->s[1] == 'T')) {
        if (f->a != 0)
            cxx_fail(x);
        cxx_call(x, 5, CXX_R_TYPE, 0);
    } else if (c == 'M' && f->a != 0) {
        x->s++;
    } else if (c == 0 || c == 'I' || c == 'T') {
        cxx_fail(x);
    } else {
        cxx_call(x, 3, CXX_R_UNQUALIFIED, f->a);
    }
}

/*
 * <nested-name> ::= N [<CV-qualifiers>] [<ref-qualifier>] <prefix>
 *                   <unqualified-name> E
 *               ::= N H ...                       explicit object (C++23)
 * State 4: a component was added, which becomes a substitution unless it is the
 * last.
 */
void cxx_nested(struct cxx *x, struct cxx_frame *f)
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
        f->a = cxx_pair(x, CXX_TEMPLATE, f->a, x->ret);
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
    cxx_skip_digits(x);
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
        uint32_t name = cxx_word(x, CXX_WORD, CXX_W_STRING_LITERAL, 0);

        discriminator(x);
        cxx_give_node(x, CXX_LOCAL, f->a, name, 0);
        return;
    }
    if (cxx_take(x, 'd'))
        f->b = cxx_compact(x) + 1;
    cxx_call(x, 2, CXX_R_NAME, 0);
}

/* <local-name> ::= Z <encoding> E <entity name> [<discriminator>]
 *              ::= Z <encoding> E s [<discriminator>]       string literal
 *              ::= Z <encoding> E d [<number>] _ <name>     default argument
 */
void cxx_local(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        x->s++;
        x->nested++;
        cxx_call(x, 1, CXX_R_ENCODING, 0);
    } else if (f->at == 1) {
        x->nested--;
        local_entity(x, f);
    } else {
        uint32_t name = x->ret;

        if (f->b != 0)
            name = cxx_node(x, CXX_DEFAULT_ARG, name, 0, f->b);
        else if (cxx_at(x, name)->kind != CXX_LAMBDA &&
                 cxx_at(x, name)->kind != CXX_UNNAMED)
            discriminator(x);
        cxx_give_node(x, CXX_LOCAL, f->a, name, 0);
    }
}

/* A constructor or destructor of the class (node). */
static uint32_t structor_of(struct cxx *x, uint8_t kind, uint32_t node)
{
    uint32_t base = cxx_base_name(x, node);
    const struct cxx_node *n = cxx_at(x, base);
    bool flat =
        (n->kind == CXX_NAME && n->flags & CXX_FLAT) || n->kind == CXX_STD;

    return cxx_node(x, CXX_IS(kind, flat ? CXX_FLAT_LEAF : 0), base, 0, 0);
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
        cxx_call(x, 3, CXX_R_TYPE, 0);
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

    if (*x->s == 'W' && !cxx_module(x, &f->b))
        return;
    if (cxx_take(x, 'F')) {
        x->llvm = true;
        f->b |= FRIEND;
    }
    c = *x->s;
    f->at = 1;
    if (cxx_is_digit(c)) {
        f->c = cxx_source_name(x);
    } else if (cxx_is_lower(c)) {
        if (c == 'o' && x->s[1] == 'n')
            x->s += 2;
        cxx_call(x, 2, CXX_R_OPERATOR, 0);
    } else if (c == 'D' && x->s[1] == 'C') {
        cxx_call(x, 2, CXX_R_BINDING, 0);
    } else if (c == 'C' || c == 'D') {
        structor(x, f);
    } else if (c == 'L') {
        x->s++;
        f->c = cxx_source_name(x);
        if (!x->failed)
            discriminator(x);
    } else if (c == 'U' && x->s[1] == 'l') {
        cxx_call(x, 2, CXX_R_LAMBDA, 0);
    } else if (c == 'U' && x->s[1] == 't') {
        x->s += 2;
        f->c = cxx_node(x, CXX_UNNAMED, 0, 0, cxx_compact(x));
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
void cxx_unqualified(struct cxx *x, struct cxx_frame *f)
{
    uint32_t module;

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
        f->c = cxx_node(x, CXX_ENTITY, f->c, module, 0);
    f->c = cxx_tags(x, f->c);
    if (x->failed)
        return;
    if (f->b & FRIEND)
        f->c = cxx_node(x, CXX_FRIEND, f->c, 0, 0);
    if (f->a != 0)
        f->c = cxx_pair(x, CXX_QUAL, f->a, f->c);
    cxx_give(x, f->c);
}
