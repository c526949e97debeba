/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: types with qualifiers (ABI 5.1.5.3).
 */

#include "demangle/cxx_parse.h"

/* Kind of the qualifier at x->s, 0 if there is none. */
static uint8_t qualifier(const struct cxx *x)
{
    uint8_t kind = prof_cxx_modifier(*x->s);

    if (kind >= CXX_CONST && kind <= CXX_RESTRICT)
        return kind;
    if (*x->s != 'D')
        return 0;
    switch (x->s[1]) {
    case 'x':
        return CXX_F_SAFE;
    case 'o':
    case 'O':
        return CXX_F_NOEXCEPT;
    case 'w':
        return CXX_F_THROW;
    default:
        return 0;
    }
}

/* Before 'F', cv-qualifiers apply to the function's "this". */
static void qualify_this(struct cxx *x, uint16_t head)
{
    for (; head != 0; head = cxx_at(x, head)->a) {
        struct cxx_node *n = cxx_at(x, head);

        if (n->kind >= CXX_CONST && n->kind <= CXX_RESTRICT)
            n->kind = (uint8_t)(n->kind - CXX_CONST + CXX_F_CONST);
    }
}

static void link_qualifier(struct cxx *x, struct cxx_frame *f, uint16_t node)
{
    if (f->a == 0)
        f->a = node;
    else
        cxx_at(x, f->b)->a = node;
    f->b = node;
}

/* The type x->ret is known. The ref-qualifier of a function (state 3) is
 * printed last, so it must be outermost. */
static void end_qualified(struct cxx *x, struct cxx_frame *f)
{
    struct cxx_node *type = cxx_at(x, x->ret);
    uint16_t inner = x->ret;

    if (f->at == 3 && (type->kind == CXX_F_LREF || type->kind == CXX_F_RREF)) {
        inner = type->a;
        type->a = f->a;
        f->a = x->ret;
    }
    cxx_at(x, f->b)->a = inner;
    prof_cxx_give_new(x, f->a);
}

/* <qualified-type> ::= <qualifiers> <type>, and the qualifiers before a
 * <function-type>. f->a outermost qualifier, f->b innermost. DO <expression> E
 * (noexcept) and Dw <type>+ E (throw) have operands. */
void prof_cxx_qualified(struct cxx *x, struct cxx_frame *f)
{
    uint8_t kind;

    if (f->at == 1) {
        cxx_at(x, f->b)->b = x->ret;
        if (cxx_at(x, f->b)->kind == CXX_F_NOEXCEPT)
            cxx_want(x, 'E');
    } else if (f->at != 0) {
        end_qualified(x, f);
        return;
    }
    while (!x->failed && (kind = qualifier(x)) != 0) {
        bool operand = kind == CXX_F_NOEXCEPT && x->s[1] == 'O';

        x->s += *x->s == 'D' ? 2 : 1;
        link_qualifier(x, f, prof_cxx_node(x, kind, 0, 0, 0));
        if (kind == CXX_F_THROW)
            prof_cxx_call(x, 1, CXX_R_LIST, CXX_R_TYPE << 8 | CXX_SOME | 'E');
        else if (operand)
            prof_cxx_call(x, 1, CXX_R_EXPR, 0);
        else
            continue;
        return;
    }
    if (*x->s == 'F') {
        qualify_this(x, f->a);
        prof_cxx_call(x, 3, CXX_R_FUNCTION, 0);
    } else {
        prof_cxx_call(x, 2, CXX_R_TYPE, 0);
    }
}
