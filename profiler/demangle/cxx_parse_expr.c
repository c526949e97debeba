/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: expressions (ABI 5.1.6).
 *
 * The shape of an operator, from the table, determines its operands.
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

static bool is_function_parameter(const struct cxx *x)
{
    return *x->s == 'f' &&
           (x->s[1] == 'p' || (x->s[1] == 'L' && cxx_is_digit(x->s[2])));
}

static bool is_fold(const struct cxx *x)
{
    return cxx_next(x, 'f', 'l') || cxx_next(x, 'f', 'r') ||
           cxx_next(x, 'f', 'L') || cxx_next(x, 'f', 'R');
}

/* State 0 of <expression>: chooses by the first letters. States 1 and 2 parse a
 * name with template arguments, 3 and 4 a braced list (tl, il), 5 a pack
 * expansion (sp). */
static void expr_begin(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;
    uint16_t op;

    if (c == 'L') {
        prof_cxx_become(x, CXX_R_LITERAL, 0);
    } else if (c == 'T' && (cxx_is_digit(x->s[1]) || x->s[1] == '_')) {
        prof_cxx_give(x, prof_cxx_tparam_leaf(x));
    } else if (is_function_parameter(x)) {
        prof_cxx_give(x, function_parameter(x));
    } else if (cxx_is_digit(c) || cxx_next(x, 'o', 'n')) {
        prof_cxx_call(x, 1, CXX_R_UNQUALIFIED, 0);
    } else if (cxx_next(x, 's', 'r')) {
        prof_cxx_become(x, CXX_R_SCOPED, 0);
    } else if (cxx_next(x, 'i', 'l')) {
        x->s += 2;
        prof_cxx_call(x, 4, CXX_R_EXPR_LIST, 'E');
    } else if (cxx_next(x, 't', 'l')) {
        x->s += 2;
        prof_cxx_call(x, 3, CXX_R_TYPE, 0);
    } else if (cxx_next(x, 's', 'p')) {
        x->s += 2;
        prof_cxx_call(x, 5, CXX_R_EXPR, 0);
    } else if (c == 'u' && cxx_is_digit(x->s[1])) {
        prof_cxx_become(x, CXX_R_VENDOR_EXPR, 0);
    } else if (cxx_next(x, 'r', 'q') || cxx_next(x, 'r', 'Q')) {
        prof_cxx_become(x, CXX_R_REQUIRES, 0);
    } else if (is_fold(x)) {
        prof_cxx_become(x, CXX_R_FOLD, 0);
    } else {
        if (cxx_next(x, 'c', 'v')) {
            prof_cxx_become(x, CXX_R_OPERATION, 0xffff);
            return;
        }
        op = prof_cxx_op(c, c == 0 ? 0 : x->s[1]);
        if (op == 0xffff) {
            cxx_fail(x);
            return;
        }
        x->s += 2;
        if (prof_cxx_ops[op].llvm)
            x->llvm = true;
        prof_cxx_become(x,
                        prof_cxx_ops[op].shape == CXX_OP_NEW ? CXX_R_NEW
                                                             : CXX_R_OPERATION,
                        op);
    }
    (void)f;
}

void prof_cxx_expr(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        expr_begin(x, f);
        return;
    case 1:
        if (*x->s != 'I') {
            prof_cxx_give(x, x->ret);
            return;
        }
        f->a = x->ret;
        prof_cxx_call(x, 2, CXX_R_ARGS, 0);
        return;
    case 2:
        prof_cxx_give(x, prof_cxx_pair(x, CXX_TEMPLATE, f->a, x->ret));
        return;
    case 3:
        f->a = x->ret;
        prof_cxx_call(x, 4, CXX_R_EXPR_LIST, 'E');
        return;
    case 4:
        prof_cxx_give_node(x, CXX_BRACES, f->a, x->ret, 0);
        return;
    default:
        prof_cxx_give_node(x, CXX_EXPANSION, x->ret, 0, 0);
    }
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
        x->s += 2;
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

/* State 0 of an operation: calls the rule of the first operand. */
static void operation_begin(struct cxx *x, struct cxx_frame *f)
{
    uint16_t op = f->a;

    f->c = op;
    f->a = 0;
    if (op == 0xffff) {
        x->s += 2;
        prof_cxx_call(x, 8, CXX_R_TYPE, 0);
        return;
    }
    switch (prof_cxx_ops[op].shape) {
    case CXX_OP_NULLARY:
        prof_cxx_give_node(x, CXX_NULLARY, 0, 0, op);
        return;
    case CXX_OP_UNARY:
        prof_cxx_call(x, 1, CXX_R_EXPR, 0);
        return;
    case CXX_OP_STEP:
        prof_cxx_call(x, cxx_take(x, '_') ? 1 : 2, CXX_R_EXPR, 0);
        return;
    case CXX_OP_UNARY_TYPE:
        prof_cxx_call(x, 1, is_function_parameter(x) ? CXX_R_EXPR : CXX_R_TYPE,
                      0);
        return;
    case CXX_OP_SIZEOF_ARGS:
        x->s--; /* written like arguments, but for their first letter */
        prof_cxx_call(x, 1, CXX_R_ARGS, 0);
        return;
    case CXX_OP_CAST:
        prof_cxx_call(x, 3, CXX_R_TYPE, 0);
        return;
    case CXX_OP_DESIGNATED:
        if (prof_cxx_ops[op].code[1] == 'i') {
            f->a = prof_cxx_source_name(x);
            prof_cxx_call(x, 4, CXX_R_EXPR, 0);
            return;
        }
        prof_cxx_call(x, 3, CXX_R_EXPR, 0);
        return;
    case CXX_OP_NAME_ONLY:
    case CXX_OP_FOLD:
        cxx_fail(x);
        return;
    default:
        prof_cxx_call(x, 3, CXX_R_EXPR, 0);
    }
}

/* State 3: calls the rule of the second operand. After a member access a lone
 * lower-case code may be an operator's name. */
static void operation_second(struct cxx *x, struct cxx_frame *f)
{
    f->a = x->ret;
    switch (prof_cxx_ops[f->c].shape) {
    case CXX_OP_CALL:
        prof_cxx_call(x, 4, CXX_R_EXPR_LIST, 'E');
        return;
    case CXX_OP_CONDITIONAL:
    case CXX_OP_RANGE:
        prof_cxx_call(x, 5, CXX_R_EXPR, 0);
        return;
    case CXX_OP_MEMBER:
        if (cxx_is_lower(*x->s) && !cxx_next(x, 's', 'r') &&
            !cxx_next(x, 'o', 'n') && !cxx_next(x, 'g', 's'))
            prof_cxx_call(x, 6, CXX_R_UNQUALIFIED, 0);
        else
            prof_cxx_call(x, 4, CXX_R_EXPR, 0);
        return;
    default:
        prof_cxx_call(x, 4, CXX_R_EXPR, 0);
    }
}

static uint16_t operation_node(struct cxx *x, const struct cxx_frame *f,
                               uint16_t second)
{
    switch (prof_cxx_ops[f->c].shape) {
    case CXX_OP_DESIGNATED:
        return prof_cxx_node(x, CXX_DESIGNATED, f->a, second, f->c);
    default:
        return prof_cxx_node(x, CXX_BINARY, f->a, second, f->c);
    }
}

/* <expression> that is an operator and its operands. f->a first operand, f->b
 * second of three, f->c operator; 0xffff is a conversion (cv). */
void prof_cxx_operation(struct cxx *x, struct cxx_frame *f)
{
    uint16_t pair;

    switch (f->at) {
    case 0:
        operation_begin(x, f);
        return;
    case 1:
        prof_cxx_give_node(x, CXX_UNARY, x->ret, 0, f->c);
        return;
    case 2:
        prof_cxx_give_node(x, CXX_POSTFIX, x->ret, 0, f->c);
        return;
    case 3:
        operation_second(x, f);
        return;
    case 4:
        prof_cxx_give(x, operation_node(x, f, x->ret));
        return;
    case 5:
        f->b = x->ret;
        prof_cxx_call(x, 7, CXX_R_EXPR, 0);
        return;
    case 6:
        prof_cxx_give(x, operation_node(x, f, x->ret));
        return;
    case 7:
        pair = prof_cxx_node(x, CXX_LIST, f->b, x->ret, 0);
        prof_cxx_give_node(x,
                           prof_cxx_ops[f->c].shape == CXX_OP_RANGE
                               ? CXX_DESIGNATED
                               : CXX_CONDITIONAL,
                           f->a, pair, f->c);
        return;
    case 8: /* cv <type> _ <list> E, or cv <type> <expression> */
        f->a = x->ret;
        if (cxx_take(x, '_'))
            prof_cxx_call(x, 9, CXX_R_EXPR_LIST, 'E');
        else
            prof_cxx_call(x, 9, CXX_R_EXPR, 0);
        return;
    default:
        prof_cxx_give_node(x, CXX_CAST, f->a, x->ret, 0);
    }
}

/* <expression> ::= [gs] nw <expression>* _ <type> E
 *              ::= [gs] nw <expression>* _ <type> <initializer>
 * <initializer> ::= pi <expression>* E | il <expression>* E; na is new[] */
void prof_cxx_new(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        f->c = f->a;
        prof_cxx_call(x, 1, CXX_R_EXPR_LIST, '_');
        return;
    case 1:
        f->a = x->ret;
        prof_cxx_call(x, 2, CXX_R_TYPE, 0);
        return;
    case 2:
        f->b = prof_cxx_node(x, CXX_LIST, x->ret, 0, 0);
        if (cxx_take(x, 'E'))
            break;
        if (cxx_next(x, 'p', 'i')) {
            x->s += 2;
            prof_cxx_call(x, 3, CXX_R_EXPR_LIST, 'E');
        } else if (cxx_next(x, 'i', 'l')) {
            prof_cxx_call(x, 3, CXX_R_EXPR, 0);
        } else {
            cxx_fail(x);
        }
        return;
    default:
        cxx_at(x, f->b)->b = x->ret;
        break;
    }
    prof_cxx_give_node(x, CXX_NEW, f->a, f->b, f->c);
}

/* <expression> ::= fl <operator-name> <expression>                unary fold
 *              ::= fL <operator-name> <expression> <expression>  binary fold
 * and the same with fr and fR for right folds. */
void prof_cxx_fold(struct cxx *x, struct cxx_frame *f)
{
    uint16_t op;
    char form;

    switch (f->at) {
    case 0:
        form = x->s[1];
        x->s += 2;
        op = prof_cxx_op(x->s[0], x->s[0] == 0 ? 0 : x->s[1]);
        if (op == 0xffff) {
            cxx_fail(x);
            return;
        }
        x->s += 2;
        f->c = (uint16_t)(op | (form == 'l'   ? CXX_FOLD_LEFT
                                : form == 'r' ? CXX_FOLD_RIGHT
                                : form == 'L' ? CXX_FOLD_LEFT_INIT
                                              : CXX_FOLD_RIGHT_INIT));
        prof_cxx_call(x, 1, CXX_R_EXPR, 0);
        return;
    case 1:
        f->a = x->ret;
        if ((f->c & CXX_FOLD_FORM) >= CXX_FOLD_LEFT_INIT) {
            prof_cxx_call(x, 2, CXX_R_EXPR, 0);
            return;
        }
        prof_cxx_give_node(x, CXX_FOLD, f->a, 0, f->c);
        return;
    default:
        prof_cxx_give_node(x, CXX_FOLD, f->a, x->ret, f->c);
    }
}

/* <expression>* up to the byte f->a, which is consumed. */
void prof_cxx_expr_list(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 1)
        prof_cxx_append(x, &f->b, &f->c, x->ret);
    if (cxx_take(x, (char)f->a)) {
        prof_cxx_give(x, prof_cxx_list(x, f->b, f->c));
        return;
    }
    prof_cxx_call(x, 1, CXX_R_EXPR, 0);
}

/* <expression> ::= u <source-name> <template-arg>* E    vendor extension */
void prof_cxx_vendor_expr(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        x->s++;
        f->a = prof_cxx_source_name(x);
    } else {
        prof_cxx_append(x, &f->b, &f->c, x->ret);
    }
    if (x->failed)
        return;
    if (cxx_take(x, 'E')) {
        f->b = prof_cxx_list(x, f->b, f->c);
        prof_cxx_give_node(x, CXX_VENDOR_EXPR, f->a, f->b, 0);
        return;
    }
    prof_cxx_call(x, 1, CXX_R_ARG, 0);
}
