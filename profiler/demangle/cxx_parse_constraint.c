/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: constraints, and the template parameters that lambdas and
 * constrained templates declare (ABI 5.1.6 and 5.1.8, as of C++20).
 */

#include "demangle/cxx_parse.h"

/* <expression> ::= rq <requirement>+ E
 *              ::= rQ <bare-function-type> _ <requirement>+ E
 * f->a parameters, f->b requirements; (void) is no parameter. */
void prof_cxx_requires(struct cxx *x, struct cxx_frame *f)
{
    bool block = x->block;

    switch (f->at) {
    case 0:
        x->llvm = true;
        x->s += 2;
        if (x->s[-1] == 'Q') {
            f->a = 0;
            prof_cxx_call(x, 1, CXX_R_TYPE, 0);
            return;
        }
        f->at = 2;
        break;
    case 1:
        prof_cxx_append(x, &f->a, &f->b, x->ret);
        if (!cxx_take(x, '_')) {
            prof_cxx_call(x, 1, CXX_R_TYPE, 0);
            return;
        }
        if (cxx_at(x, cxx_at(x, f->a)->a)->kind == CXX_BUILTIN &&
            cxx_at(x, cxx_at(x, f->a)->a)->a == 'v' - 'a')
            f->a = 0;
        f->b = 0;
        break;
    default:
        prof_cxx_append(x, &f->b, &f->c, x->ret);
        break;
    }
    x->block = block;
    if (f->b != 0 && cxx_take(x, 'E')) {
        prof_cxx_give_node(x, CXX_REQUIRES, f->a, f->b, 0);
        return;
    }
    prof_cxx_call(x, 3, CXX_R_REQUIREMENT, 0);
}

/* <requirement> ::= X <expression> [N] [R <type-constraint>]
 *               ::= T <type> | Q <constraint-expression> */
void prof_cxx_requirement(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;

    switch (f->at) {
    case 0:
        f->c = (uint16_t)c;
        if (c != 0)
            x->s++;
        if (c == 'X' || c == 'Q')
            prof_cxx_call(x, c == 'X' ? 1 : 3, CXX_R_EXPR, 0);
        else if (c == 'T')
            prof_cxx_call(x, 3, CXX_R_TYPE, 0);
        else
            cxx_fail(x);
        return;
    case 1:
        f->a = x->ret;
        if (cxx_take(x, 'N'))
            f->c = 'N';
        if (cxx_take(x, 'R')) {
            prof_cxx_call(x, 2, CXX_R_NAME, 0);
            return;
        }
        prof_cxx_give_node(x, CXX_REQUIREMENT, f->a, 0, f->c);
        return;
    case 2:
        prof_cxx_give_node(x, CXX_REQUIREMENT, f->a, x->ret, f->c);
        return;
    default:
        prof_cxx_give_node(x, CXX_REQUIREMENT, x->ret, 0, f->c);
    }
}

/* A declared parameter has no name in the mangled form. The printer invents one
 * ($T, $N or $TT); the number here, by kind, is that of LLVM. */
static uint16_t declare(struct cxx *x, uint16_t form, uint16_t made_of)
{
    unsigned which = form == 'n' ? 1 : form == 't' ? 2 : 0;
    uint16_t number = 0;

    if (form != 'p')
        number = x->invented[which]++;
    return prof_cxx_node(x, CXX_TPARAM_DECL, made_of, number, form);
}

/* <template-param-decl> ::= Ty | Tk <concept name> | Tn <type>
 *                       ::= Tt <template-param-decl>* E
 *                       ::= Tp <template-param-decl> */
void prof_cxx_tparam_decl(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        if (*x->s != 'T' || x->s[1] == 0) {
            cxx_fail(x);
            return;
        }
        f->c = (uint16_t)x->s[1];
        x->s += 2;
        if (f->c == 'k')
            x->llvm = true;
    } else if (f->c == 't') {
        prof_cxx_append(x, &f->a, &f->b, x->ret);
    } else {
        prof_cxx_give(x, declare(x, f->c, x->ret));
        return;
    }
    switch (f->c) {
    case 'y':
        prof_cxx_give(x, declare(x, f->c, 0));
        return;
    case 'k':
        prof_cxx_call(x, 1, CXX_R_NAME, 0);
        return;
    case 'n':
        prof_cxx_call(x, 1, CXX_R_TYPE, 0);
        return;
    case 'p':
        prof_cxx_call(x, 1, CXX_R_TPARAM_DECL, 0);
        return;
    case 't':
        if (cxx_take(x, 'E'))
            prof_cxx_give(x, declare(x, f->c, f->a));
        else
            prof_cxx_call(x, 1, CXX_R_TPARAM_DECL, 0);
        return;
    default:
        cxx_fail(x);
    }
}
