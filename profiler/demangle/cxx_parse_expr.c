/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: expressions (ABI 5.1.6), as far as they are no forms
 * (cxx_forms.c).
 */

#include "demangle/cxx_parse.h"

/* <function-param> ::= fp <CV-qualifiers> [<number>] _ | fpT
 *                  ::= fL <number> p <CV-qualifiers> [<number>] _ */
static uint16_t function_parameter(struct cxx *x)
{
    if (cxx_take(x, 'f') && cxx_take(x, 'L')) {
        x->llvm = true;
        prof_cxx_number(x);
    }
    cxx_want(x, 'p');
    if (cxx_take(x, 'T'))
        return prof_cxx_node(x, CXX_FPARAM, 0, 0, 0);
    while (*x->s == 'r' || *x->s == 'V' || *x->s == 'K')
        x->s++;
    return prof_cxx_node(x, CXX_FPARAM, (uint16_t)(prof_cxx_compact(x) + 1), 0,
                         0);
}

/* An operator with its operands. */
static void operation(struct cxx *x, struct cxx_frame *f)
{
    uint16_t op = prof_cxx_take_op(x);

    if (x->failed)
        return;
    if (prof_cxx_ops[op].llvm)
        x->llvm = true;
    prof_cxx_become(x, (uint8_t)(CXX_R_OPERATION + prof_cxx_ops[op].shape), 0);
    f->c = op;
}

/* <expression>: chooses the rule by the first letters. */
void prof_cxx_expr(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;

    if (c == 'L')
        prof_cxx_become(x, CXX_R_LITERAL, 0);
    else if (c == 'T' && (cxx_is_digit(x->s[1]) || x->s[1] == '_'))
        prof_cxx_give(x, prof_cxx_tparam_leaf(x));
    else if (prof_cxx_is_fparam(x))
        prof_cxx_give(x, function_parameter(x));
    else if (cxx_is_digit(c) || cxx_next(x, 'o', 'n'))
        prof_cxx_become(x, CXX_R_WORD_EXPR, 0);
    else if (c == 'u' && cxx_is_digit(x->s[1]))
        prof_cxx_become(x, CXX_R_VENDOR_EXPR, 0);
    else if (!cxx_is_lower(c) || !prof_cxx_begin(x))
        operation(x, f);
}

/*
 * <unresolved-name> ::= sr <unresolved-type> <base-unresolved-name>
 *                   ::= sr <unresolved-qualifier-level>+ E
 *                       <base-unresolved-name>
 * f->a is the scope so far; f->c = 1: the name being parsed is the last.
 */
void prof_cxx_scoped(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        f->c = 0;
        prof_cxx_call(x, cxx_is_digit(*x->s) ? 2 : 1,
                      cxx_is_digit(*x->s) ? CXX_R_UNQUALIFIED : CXX_R_TYPE, 0);
        return;
    case 1:
        f->c = 1;
        prof_cxx_call(x, 2, CXX_R_UNQUALIFIED, x->ret);
        return;
    case 2:
        f->a = x->ret;
        if (*x->s == 'I') {
            prof_cxx_call(x, 3, CXX_R_ARGS, 0);
            return;
        }
        break;
    default:
        f->a = prof_cxx_pair(x, CXX_TEMPLATE, f->a, x->ret);
    }
    if (f->c) {
        prof_cxx_give(x, f->a);
        return;
    }
    f->c = cxx_take(x, 'E');
    prof_cxx_call(x, 2, CXX_R_UNQUALIFIED, f->a);
}
