/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: types with qualifiers (ABI 5.1.5.3).
 */

#include "demangle/cxx_parse.h"

/* Kind of the qualifier at x->s, 0 if there is none. *arguments: operands
 * follow, as in DO <expression> E (noexcept) and Dw <type>+ E (throw). */
static uint8_t qualifier(const struct cxx *x, bool *arguments)
{
    *arguments = false;
    switch (*x->s) {
    case 'r':
        return CXX_RESTRICT;
    case 'V':
        return CXX_VOLATILE;
    case 'K':
        return CXX_CONST;
    case 'D':
        break;
    default:
        return 0;
    }
    *arguments = x->s[1] == 'O' || x->s[1] == 'w';
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

/* <qualified-type> ::= <qualifiers> <type>, and the qualifiers before a
 * <function-type>. f->a outermost qualifier, f->b innermost, f->c end of the
 * list of thrown types. */
void prof_cxx_qualified(struct cxx *x, struct cxx_frame *f)
{
    bool arguments;
    uint8_t kind;
    uint16_t thrown = 0;

    switch (f->at) {
    case 1: /* noexcept(x), throw(a, b): the list goes on until E */
        if (cxx_at(x, f->b)->kind == CXX_F_NOEXCEPT) {
            cxx_at(x, f->b)->b = x->ret;
            cxx_want(x, 'E');
            break;
        }
        thrown = cxx_at(x, f->b)->b;
        prof_cxx_append(x, &thrown, &f->c, x->ret);
        cxx_at(x, f->b)->b = thrown;
        if (!cxx_take(x, 'E')) {
            prof_cxx_call(x, 1, CXX_R_TYPE, 0);
            return;
        }
        break;
    case 2:
    case 3:
        if (f->at == 3 && (cxx_at(x, x->ret)->kind == CXX_F_LREF ||
                           cxx_at(x, x->ret)->kind == CXX_F_RREF)) {
            /* The ref-qualifier is printed last, so it must be outermost. */
            cxx_at(x, f->b)->a = cxx_at(x, x->ret)->a;
            cxx_at(x, x->ret)->a = f->a;
            f->a = x->ret;
        } else {
            cxx_at(x, f->b)->a = x->ret;
        }
        prof_cxx_give_new(x, f->a);
        return;
    default:
        break;
    }
    while (!x->failed && (kind = qualifier(x, &arguments)) != 0) {
        x->s += *x->s == 'D' ? 2 : 1;
        link_qualifier(x, f, prof_cxx_node(x, kind, 0, 0, 0));
        if (arguments) {
            f->c = 0;
            prof_cxx_call(x, 1, kind == CXX_F_THROW ? CXX_R_TYPE : CXX_R_EXPR,
                          0);
            return;
        }
    }
    if (*x->s == 'F') {
        qualify_this(x, f->a);
        prof_cxx_call(x, 3, CXX_R_FUNCTION, 0);
    } else {
        prof_cxx_call(x, 2, CXX_R_TYPE, 0);
    }
}
