/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: encodings, special names and <name> (ABI 5.1.2 and
 * 5.1.4.4). The name of a template becomes a substitution before its arguments
 * are parsed.
 */

#include "demangle/cxx_parse.h"

uint16_t prof_cxx_base_name(const struct cxx *x, uint16_t node)
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
static bool has_return(const struct cxx *x, uint16_t node)
{
    const struct cxx_node *n = cxx_at(x, node);

    while (n->kind == CXX_LOCAL || n->kind == CXX_DEFAULT_ARG ||
           (n->kind >= CXX_F_CONST && n->kind <= CXX_F_THROW))
        n = cxx_at(x, n->kind == CXX_LOCAL ? n->b : n->a);
    if (n->kind != CXX_TEMPLATE)
        return false;
    n = cxx_at(x, prof_cxx_base_name(x, n->a));
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
        x->ret = prof_cxx_node(x, CXX_FUNCTION, 0, 0, 0);
        return true;
    }
    prof_cxx_call(x, 2, CXX_R_BARE, returns);
    return cxx_run(x, f, prof_cxx_bare);
}

/* Marks the first parameter as the explicit object ("this Type"; C++23). */
static void mark_this(struct cxx *x, uint16_t function)
{
    uint16_t list = cxx_at(x, function)->b;
    struct cxx_node *first = cxx_at(x, list);

    if (list == 0)
        return;
    first->flags = 0;
    first->a = prof_cxx_node(x, CXX_ELABORATED, first->a, 0, CXX_E_THIS);
}

/* <encoding> ::= <function name> <bare-function-type> [Q <constraint>]
 *            ::= <data name> | <special-name>
 * f->b name, f->c function type; until state 2, f->c is whether there is an
 * explicit object parameter (N H). */
void prof_cxx_encoding(struct cxx *x, struct cxx_frame *f)
{
    bool explicit;

    switch (f->at) {
    case 0:
        if (*x->s == 'G' || *x->s == 'T') {
            prof_cxx_become(x, CXX_R_SPECIAL, 0);
            return;
        }
        if (*x->s != 'N') {
            prof_cxx_call(x, 1, CXX_R_NAME, 0);
            return;
        }
        f->c = x->s[1] == 'H';
        prof_cxx_call(x, 1, CXX_R_NESTED, 0);
        if (!cxx_run(x, f, prof_cxx_nested))
            return; /* fall through */
    case 1:
        f->b = x->ret;
        if (at_encoding_end(x)) {
            if (*x->s == '.')
                x->llvm = true;
            prof_cxx_give(x, f->b);
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
            prof_cxx_call(x, 3, CXX_R_EXPR, 0);
            return;
        }
        x->ret = 0;
        break;
    default:
        break;
    }
    prof_cxx_give_node(x, CXX_TYPED, f->b, f->c, x->ret);
}

/* <special-name>: TV <type>, TI <type>, GV <name>, Th <call-offset> <encoding>,
 * ... The table says what follows the two letters. */
void prof_cxx_special(struct cxx *x, struct cxx_frame *f)
{
    uint16_t i = 0;

    while (!cxx_next(x, prof_cxx_specials[i].code[0],
                     prof_cxx_specials[i].code[1]))
        if (++i == CXX_S_TEMPORARY) {
            cxx_fail(x);
            return;
        }
    x->s += 2;
    prof_cxx_become(x, (uint8_t)(CXX_R_SPECIAL_OF + prof_cxx_specials[i].shape),
                    0);
    f->c = i;
}

/* Gr <number> _ <text>: GCC's Java resource. Its escapes are expanded when it
 * is printed. */
void prof_cxx_resource(struct cxx *x, struct cxx_frame *f)
{
    uint32_t bytes = prof_cxx_number(x);
    uint16_t name;

    (void)f;
    if (x->failed || bytes < 2 || bytes > (uint32_t)(x->end - x->s)) {
        cxx_fail(x);
        return;
    }
    cxx_want(x, '_');
    name = prof_cxx_node(x, CXX_NAME, (uint16_t)(x->s - x->text),
                         (uint16_t)(bytes - 1), 1);
    x->s += bytes - 1;
    prof_cxx_give(x, name);
}

/* GR <name> [<seq-id>] _, a reference temporary. GNU expects a plain number;
 * what compilers emit ends with '_', and only LLVM accepts that. */
void prof_cxx_temporary(struct cxx *x, struct cxx_frame *f)
{
    const char *from = x->s;
    uint16_t number;

    while (cxx_is_digit(*x->s) || cxx_is_upper(*x->s))
        x->s++;
    if (cxx_take(x, '_')) {
        x->llvm = true;
        prof_cxx_give_node(x, CXX_SPECIAL, x->ret, 0, CXX_S_TEMPORARY);
        return;
    }
    x->s = from;
    if (cxx_is_digit(*from))
        number = prof_cxx_digits(x);
    else
        number = prof_cxx_word(x, CXX_WORD, CXX_W_ZERO, 0);
    prof_cxx_give_node(x, CXX_SPECIAL, number, x->ret, f->c);
}

/* Whether a list of parameter types ends here. Consumes nothing. */
static bool at_parameters_end(const struct cxx *x)
{
    char c = *x->s;

    if (c == 0 || c == 'E' || c == '.' || c == 'Q' || (x->block && c == '_'))
        return true;
    return (c == 'R' || c == 'O') && x->s[1] == 'E';
}

uint16_t prof_cxx_no_void(const struct cxx *x, uint16_t list)
{
    const struct cxx_node *n = cxx_at(x, list);
    const struct cxx_node *only = cxx_at(x, n->a);

    return n->b == 0 && only->kind == CXX_BUILTIN && only->a == 'v' - 'a'
               ? 0
               : list;
}

/* <bare-function-type> ::= [J] <type>+. f->a: 1 if the first is the return
 * type, then that type; f->b and f->c: the list of parameters. */
void prof_cxx_bare(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        if (cxx_take(x, 'J'))
            f->a = 1;
        if (f->a) {
            prof_cxx_call(x, 1, CXX_R_TYPE, 0);
            return;
        }
    } else if (f->at == 1) {
        f->a = x->ret;
    } else {
        prof_cxx_append(x, &f->b, &f->c, x->ret);
    }
    /* There is at least one parameter; most need no frame. */
    while (f->b == 0 || !at_parameters_end(x)) {
        if (!prof_cxx_read_type(x, 2))
            return;
        prof_cxx_append(x, &f->b, &f->c, x->ret);
    }
    prof_cxx_give_node(x, CXX_FUNCTION, f->a,
                       prof_cxx_no_void(x, prof_cxx_list(x, f->b, f->c)), 0);
}

/* State 0 of <name>. f->a becomes 1 if the template's name already is a
 * substitution and must not become another. */
static void name_begin(struct cxx *x, struct cxx_frame *f)
{
    uint16_t scope = 0;

    switch (*x->s) {
    case 'N':
        prof_cxx_become(x, CXX_R_NESTED, 0);
        return;
    case 'Z':
        prof_cxx_become(x, CXX_R_LOCAL, 0);
        return;
    case 'S':
        if (x->s[1] == 't') {
            x->s += 2;
            scope = prof_cxx_word(x, CXX_WORD, CXX_W_STD, 0);
            break;
        }
        f->b = prof_cxx_substitution(x, false);
        if (x->failed)
            return;
        if (cxx_at(x, f->b)->kind == CXX_MODULE)
            break;
        f->a = 1;
        x->ret = f->b;
        f->at = 1;
        prof_cxx_name(x, f);
        return;
    default:
        break;
    }
    prof_cxx_call(x, 1, CXX_R_UNQUALIFIED, scope);
    x->frame->b = f->b;
}

/* <name> ::= <nested-name> | <local-name> | <unscoped-name>
 *        ::= <unscoped-template-name> <template-args> */
void prof_cxx_name(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        name_begin(x, f);
        return;
    case 1:
        if (*x->s != 'I') {
            prof_cxx_give(x, x->ret);
            return;
        }
        if (!f->a)
            cxx_remember(x, x->ret);
        f->b = x->ret;
        prof_cxx_call(x, 2, CXX_R_ARGS, 0);
        return;
    default:
        prof_cxx_give(x, prof_cxx_pair(x, CXX_TEMPLATE, f->b, x->ret));
    }
}
