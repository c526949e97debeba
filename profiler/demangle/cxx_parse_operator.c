/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: names of operators, lambdas and structured bindings (ABI
 * 5.1.3, 5.1.7).
 */

#include "demangle/cxx_parse.h"

/* <operator-name> ::= two letters | cv <type> | li <source-name>
 *                 ::= v <digit> <source-name>                 vendor's */
void prof_cxx_operator(struct cxx *x, struct cxx_frame *f)
{
    uint16_t op;

    if (f->at == 1) {
        x->in_conversion = f->b != 0;
        prof_cxx_give_node(x, CXX_CONVERSION, x->ret, 0, 0);
        return;
    }
    if (*x->s == 'v' && cxx_is_digit(x->s[1])) {
        x->s += 2;
        prof_cxx_give_node(x, CXX_OPERATOR_OF, prof_cxx_source_name(x), 0, 0);
        return;
    }
    if (cxx_next(x, 'c', 'v')) {
        x->s += 2;
        f->b = x->in_conversion;
        x->in_conversion = true;
        prof_cxx_call(x, 1, CXX_R_TYPE, 0);
        return;
    }
    op = prof_cxx_op(x->s[0], x->s[0] == 0 ? 0 : x->s[1]);
    if (op == 0xffff) {
        cxx_fail(x);
        return;
    }
    x->s += 2;
    if (prof_cxx_ops[op].shape == CXX_OP_NAME_ONLY)
        prof_cxx_give_node(x, CXX_LITERAL_OP, prof_cxx_source_name(x), 0, 0);
    else
        prof_cxx_give_node(x, CXX_OPERATOR, op, 0, 0);
}

/* <closure-type-name> ::= Ul <template-param-decl>* <type>+ E [<number>] _
 * f->b and f->c: list of the declared template parameters. */
void prof_cxx_lambda(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        x->s += 2;
        x->invented[0] = x->invented[1] = x->invented[2] = 0;
    } else if (f->at == 1) {
        prof_cxx_append(x, &f->b, &f->c, x->ret);
    } else {
        uint16_t list = cxx_at(x, x->ret)->b;

        cxx_want(x, 'E');
        prof_cxx_give_node(x, CXX_LAMBDA, list, f->b, prof_cxx_compact(x));
        return;
    }
    if (*x->s == 'T' && !cxx_is_digit(x->s[1]) && x->s[1] != '_' &&
        x->s[1] != 'L')
        prof_cxx_call(x, 1, CXX_R_TPARAM_DECL, 0);
    else
        prof_cxx_call(x, 2, CXX_R_BARE, 0);
}

/* <structured binding> ::= DC <source-name>+ E */
void prof_cxx_binding(struct cxx *x, struct cxx_frame *f)
{
    x->s += 2;
    while (!x->failed && !cxx_take(x, 'E'))
        prof_cxx_append(x, &f->a, &f->b, prof_cxx_source_name(x));
    prof_cxx_give(x, f->a == 0 ? 0 : prof_cxx_node(x, CXX_BINDING, f->a, 0, 0));
}
