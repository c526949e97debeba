/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: expressions, names of operators and lambdas, requirements,
 * and the template parameters that lambdas declare, as far as they are no forms
 * (ABI 5.1.3, 5.1.6, 5.1.7, 5.1.8).
 */

#include "demangle/cxx_parse.h"

uint16_t prof_cxx_take_op(struct cxx *x)
{
    uint16_t op = prof_cxx_op(x->s);

    if (op == 0xffff)
        cxx_fail(x);
    else
        x->s += 2;
    return op;
}

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
    op = prof_cxx_take_op(x);
    if (x->failed)
        return;
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

/* <requirement> ::= X <expression> ... | T <type> | Q <expression> */
void prof_cxx_requirement(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;

    if (c == 'X')
        prof_cxx_become(x, CXX_R_NEEDS_EXPR, 0);
    else if (c == 'T')
        prof_cxx_become(x, CXX_R_NEEDS_TYPE, 0);
    else if (c == 'Q')
        prof_cxx_become(x, CXX_R_NEEDS_MORE, 0);
    else
        cxx_fail(x);
    f->c = (uint8_t)c;
    x->s += c != 0;
}

/* <template-param-decl> */
void prof_cxx_tparam_decl(struct cxx *x, struct cxx_frame *f)
{
    (void)f;
    if (*x->s != 'T' || !prof_cxx_begin(x))
        cxx_fail(x);
}

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
