/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: template parameters, template arguments and literals
 * (ABI 5.1.5.8, 5.1.5.9, 5.1.6.1).
 */

#include "demangle/cxx_parse.h"

/*
 * <type> ::= <template-param>
 *        ::= <template-template-param> <template-args>
 *
 * In a conversion operator's type the arguments may be those of the operator
 * instead: they are the parameter's only if others follow. So they are parsed
 * tentatively there; f->b (position) and f->c (substitutions) are restored if
 * it was wrong. Attempts do not nest, so nothing is parsed more than twice.
 */
void prof_cxx_tparam(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        f->a = prof_cxx_tparam_leaf(x);
        if (x->failed)
            return;
        cxx_remember(x, f->a);
        if (*x->s != 'I') {
            prof_cxx_give(x, f->a);
            return;
        }
        f->b = (uint16_t)(x->s - x->text);
        f->c = x->sub_count;
        if (x->in_conversion && x->attempt == NULL)
            x->attempt = f;
        prof_cxx_call(x, 1, CXX_R_ARGS, 0);
        return;
    }
    if (x->attempt == f) {
        bool good = x->ret != 0 && *x->s == 'I';

        x->attempt = NULL;
        if (!good) {
            x->s = x->text + f->b;
            x->sub_count = f->c;
            x->node_count = (uint16_t)(f->a + 1);
            x->in_conversion = true;
            prof_cxx_give(x, f->a);
            return;
        }
    }
    prof_cxx_give_new(x, prof_cxx_pair(x, CXX_TEMPLATE, f->a, x->ret));
}

/* E, or Q <constraint-expression> E. Constraints are not printed. */
static void args_end(struct cxx *x, struct cxx_frame *f)
{
    if (f->at != 2 && cxx_take(x, 'Q')) {
        x->llvm = true;
        prof_cxx_call(x, 2, CXX_R_EXPR, 0);
        return;
    }
    cxx_want(x, 'E');
    prof_cxx_give(x, prof_cxx_list(x, f->a, f->b));
}

/* <template-args> ::= I <template-arg>* [Q <constraint-expr>] E, and the
 * argument pack J <template-arg>* E. */
void prof_cxx_args(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 2) {
        args_end(x, f);
        return;
    }
    if (f->at == 0)
        x->s++;
    else
        prof_cxx_append(x, &f->a, &f->b, x->ret);
    while (!x->failed) {
        switch (*x->s) {
        case 'E':
        case 'Q':
            args_end(x, f);
            return;
        case 'L':
            prof_cxx_call(x, 1, CXX_R_LITERAL, 0);
            if (!cxx_run(x, f, prof_cxx_literal))
                return;
            break;
        case 'X':
        case 'I':
        case 'J':
        case 'T':
            prof_cxx_call(x, 1, CXX_R_ARG, 0);
            return;
        default:
            if (!prof_cxx_read_type(x, 1))
                return;
        }
        prof_cxx_append(x, &f->a, &f->b, x->ret);
    }
}

/* Whether a template argument begins with the declaration it is for. */
static bool is_declared(const struct cxx *x)
{
    char c;

    if (*x->s != 'T')
        return false;
    c = x->s[1];
    return c == 'y' || c == 'n' || c == 't' || c == 'p' || c == 'k';
}

/* <template-arg> ::= <type> | X <expression> E | <expr-primary>
 *                | J <template-arg>* E | <template-param-decl> <template-arg>
 */
void prof_cxx_arg(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 1 || f->at == 3) {
        if (f->at == 1)
            cxx_want(x, 'E');
        prof_cxx_give(x, x->ret);
    } else if (f->at == 0 && is_declared(x)) {
        x->llvm = true;
        prof_cxx_call(x, 2, CXX_R_TPARAM_DECL, 0);
    } else if (cxx_take(x, 'X')) {
        prof_cxx_call(x, 1, CXX_R_EXPR, 0);
    } else if (*x->s == 'L') {
        prof_cxx_become(x, CXX_R_LITERAL, 0);
    } else if (*x->s == 'I' || *x->s == 'J') {
        prof_cxx_become(x, CXX_R_ARGS, 0);
    } else if (prof_cxx_read_type(x, 3)) {
        prof_cxx_give(x, x->ret);
    }
}

/* Whether C++ has a literal syntax for (type), so that it is printed without a
 * cast. The value is from (from) to x->s. */
static bool is_short(const struct cxx *x, uint16_t type, const char *from,
                     bool negative)
{
    const struct cxx_node *n = cxx_at(x, type);
    uint8_t print;

    if (n->kind != CXX_BUILTIN)
        return false;
    print = prof_cxx_builtins[n->a].print;
    return print == CXX_AS_INT ||
           (print == CXX_AS_BOOL && !negative && x->s - from == 1 &&
            (*from == '0' || *from == '1'));
}

/* The value of a literal of type f->a. Only nullptr and string literals have no
 * value. */
static uint16_t literal_value(struct cxx *x, struct cxx_frame *f)
{
    const struct cxx_node *type = cxx_at(x, f->a);
    uint16_t negative, value;
    const char *from;
    unsigned flat;

    if (*x->s == 'E' && type->kind == CXX_ARRAY) {
        x->llvm = true;
        return prof_cxx_node(x, CXX_LITERAL, f->a, 0, 0);
    }
    if (*x->s == 'E')
        return type->kind == CXX_BUILTIN && type->a == prof_cxx_builtin_d('n')
                   ? f->a
                   : 0;
    negative = cxx_take(x, 'n');
    from = x->s;
    while (*x->s != 'E' && *x->s != 0)
        x->s++;
    if (x->s == from)
        return 0;
    value = prof_cxx_word(x, CXX_NAME, (uint16_t)(from - x->text),
                          (uint16_t)(x->s - from));
    flat = is_short(x, f->a, from, negative) ? CXX_FLAT_LEAF : 0;
    return prof_cxx_node(x, CXX_IS(CXX_LITERAL, flat), f->a, value, negative);
}

/* <expr-primary> ::= L <type> <value> E | L <type> E | L _Z <encoding> E
 *                | L <lambda type> E */
void prof_cxx_literal(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        x->s++;
        if (*x->s == '_' || *x->s == 'Z') {
            cxx_take(x, '_');
            cxx_want(x, 'Z');
            x->nested++;
            prof_cxx_call(x, 3, CXX_R_ENCODING, 0);
            return;
        }
        if (cxx_next(x, 'U', 'l')) {
            x->llvm = true;
            prof_cxx_call(x, 1, CXX_R_LAMBDA, 0);
            return;
        }
        if (!prof_cxx_read_type(x, 2))
            return; /* fall through */
    case 2:
        f->a = x->ret;
        x->ret = literal_value(x, f);
        break;
    case 3:
        x->nested--;
        break;
    default:
        break;
    }
    cxx_want(x, 'E');
    prof_cxx_give(x, x->ret);
}
