/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: the qualifiers after a function's parameters, the
 * operations of function and pointer types, and those that only one kind of
 * node needs.
 */

#include "demangle/cxx_print.h"

static void print_fn_qual(struct cxx *x, const struct cxx_item *it,
                          const struct cxx_node *n)
{
    static const char text[][18] = {
        " const", " volatile",         " restrict", " &",
        " &&",    " transaction_safe", " noexcept", " throw",
    };

    demangle_put_string(x->out, text[n->kind - CXX_F_CONST]);
    if (n->b != 0)
        prof_cxx_format(x, it, "(%a)", n->b, 0);
}

/* A chain of qualifiers from the innermost to the outermost one. */
static void print_quals(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);

    if (!cxx_is_fn_qual(n))
        return;
    if (cxx_is_fn_qual(cxx_at(x, n->a))) {
        prof_cxx_queue(x, it, CXX_QUALS, n->a);
        prof_cxx_queue(x, it, CXX_PIECE, it->node);
    } else {
        print_fn_qual(x, it, n);
    }
}

static void print_piece(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);

    if (cxx_is_fn_qual(n)) {
        print_fn_qual(x, it, n);
    } else if (n->kind == CXX_LAMBDA) {
        prof_cxx_numbered(x, "#", n->c + 1u, "}");
    } else if (n->kind == CXX_TPARAM_DECL) {
        prof_cxx_print_invented(x, it->node, (uint16_t)(it->aux - 1));
    } else if (n->kind == CXX_DEFAULT_ARG) {
        prof_cxx_numbered(x, "{default arg#", n->c, "}::");
    }
}

static void expand(struct cxx *x, const struct cxx_item *it)
{
    struct cxx_item *next;

    if (it->pack == it->aux)
        return;
    if (it->pack > 0)
        demangle_put_string(x->out, ", ");
    prof_cxx_whole(x, it, it->node);
    next = prof_cxx_queue(x, it, CXX_EXPAND, it->node);
    next->pack++;
    next->aux = it->aux;
}

static void fn_space(struct cxx *x, const struct cxx_item *it)
{
    if (x->open == it->aux)
        demangle_put_char(x->out, ' ');
}

/* aux = 1: a pointer to member, which always has its blank. */
static void paren(struct cxx *x, const struct cxx_item *it)
{
    char last = x->out->last;

    if (last != ' ' && (it->aux || (last != '(' && last != '*')))
        demangle_put_char(x->out, ' ');
    demangle_put_char(x->out, '(');
}

static void member_of(struct cxx *x, const struct cxx_item *it)
{
    if (x->out->last != '(')
        demangle_put_char(x->out, ' ');
    prof_cxx_whole(x, it, it->node);
    prof_cxx_text(x, "::*");
}

/* Whether (*it) prints a modifier: &, *, const, class::* or, for a returned
 * type, the function itself. */
static bool is_modifier(const struct cxx_item *it, bool *function)
{
    char c = (char)it->node;

    if (it->op == CXX_FN_SPACE)
        *function = true;
    if (*function)
        return it->op == CXX_FN_SPACE || it->op == CXX_CORE ||
               it->op == CXX_PRE || it->op == CXX_TEXT ||
               it->op == CXX_LIST_ALL || it->op == CXX_QUALS;
    return it->op == CXX_MEMBER_OF || (it->op == CXX_TEXT && it->flags > 0 &&
                                       (c == '&' || c == '*' || c == ' '));
}

/*
 * Imitates a quirk of GNU: it prints all pending modifiers where the first
 * array or function type needs its parenthesis. In the parameters of a lambda
 * that includes modifiers of the lambda's own type. So items below the lambda's
 * end on the stack are moved to the top.
 */
static void leak(struct cxx *x)
{
    struct cxx_item *at = x->item;
    struct cxx_item *floor = x->floor;
    bool function = false;

    while (at != floor &&
           (at->op != CXX_PIECE || cxx_at(x, at->node)->kind != CXX_LAMBDA))
        at++;
    if (at == floor || !demangle_pay(x->out, (uint32_t)(at - x->item) / 8u))
        return;
    for (at++; at != floor; at++) {
        if (at->op == CXX_SCOPE && at->flags != 0)
            continue;
        if (!is_modifier(at, &function))
            return;
        if (cxx_is_crowded(x)) {
            x->failed = true;
            return;
        }
        *--x->item = *at;
        if (at->op != CXX_TEXT)
            x->item->flags |= CXX_IN_LAMBDA;
        at->op = CXX_TEXT;
        at->flags = 0;
    }
}

void prof_cxx_print_rare(struct cxx *x, const struct cxx_item *it)
{
    switch (it->op) {
    case CXX_SUB:
        prof_cxx_print_sub(x, it);
        break;
    case CXX_EXPAND:
        expand(x, it);
        break;
    case CXX_FN_SPACE:
        fn_space(x, it);
        break;
    case CXX_PAREN:
        paren(x, it);
        break;
    case CXX_MEMBER_OF:
        member_of(x, it);
        break;
    case CXX_QUALS:
        print_quals(x, it);
        break;
    case CXX_PIECE:
        print_piece(x, it);
        break;
    case CXX_CORE:
        prof_cxx_print_core(x, it);
        break;
    case CXX_LEAK:
        leak(x);
        break;
    case CXX_OPEN:
        cxx_print_open(x);
        break;
    default: /* CXX_SCOPE: nothing is printed */
        break;
    }
}
