/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: pointers, references and pointers to members, both
 * halves of them.
 */

#include "demangle/cxx_print.h"

enum cxx_wrap prof_cxx_wrap_of(struct cxx *x, const struct cxx_item *it,
                               uint16_t node, uint16_t scope)
{
    bool qualified = false;

    for (;;) {
        const struct cxx_node *n = cxx_at(x, node);

        if (n->kind == CXX_TPARAM) {
            if ((it->flags & CXX_IN_LAMBDA) ||
                !prof_cxx_resolve(x, it, &node, &scope))
                return CXX_WRAP_NONE;
        } else if (n->kind == CXX_ARRAY) {
            return CXX_WRAP_ARRAY;
        } else if (n->kind == CXX_FUNCTION) {
            return qualified ? CXX_WRAP_NONE : CXX_WRAP_FUNCTION;
        } else if (cxx_is_fn_qual(n)) {
            node = n->a;
        } else if (n->kind >= CXX_CONST && n->kind <= CXX_RESTRICT) {
            node = n->a;
            qualified = true;
        } else {
            return CXX_WRAP_NONE;
        }
        if (!demangle_pay(x->out, 1))
            return CXX_WRAP_NONE;
    }
}

/* A pointer, reference or pointer to member: its mark, and what to. */
struct pointer {
    uint8_t kind;
    uint8_t within; /* flags of the scope that it makes, 0 for none */
    uint16_t to;
    uint16_t scope;
    uint16_t copy; /* scopes to be opened again */
};

/* & and && to a parameter that is itself a reference: & wins. */
static struct pointer pointer_of(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);
    struct pointer p = {.kind = n->kind,
                        .to = n->kind == CXX_PTRMEM ? n->b : n->a,
                        .scope = it->scope};
    const struct cxx_node *sub = cxx_at(x, p.to);

    if ((p.kind != CXX_LREF && p.kind != CXX_RREF) ||
        (it->flags & CXX_IN_LAMBDA) || sub->kind != CXX_TPARAM ||
        !prof_cxx_resolve_reference(x, it, &p.to, &p.scope, &p.copy))
        return p;
    p.within = x->smashing ? CXX_FOR_REF | CXX_FOR_PARAM : 0;
    sub = cxx_at(x, p.to);
    if (sub->kind == CXX_LREF || sub->kind == CXX_RREF) {
        if (sub->kind == CXX_LREF)
            p.kind = CXX_LREF;
        if (sub->kind == p.kind)
            p.within &= CXX_FOR_REF;
        p.to = sub->a;
    }
    return p;
}

/* Queues half (op) of what (*p) points to. The scopes that it makes are
 * queued last in the turn, by end_pointer(). */
static void queue_pointee(struct cxx *x, const struct cxx_item *it,
                          const struct pointer *p, uint16_t first, uint8_t op)
{
    struct cxx_item env = *it;

    env.scope = p->within ? first : p->scope;
    prof_cxx_queue(x, &env, op, p->to);
}

static void end_pointer(struct cxx *x, const struct cxx_item *it,
                        const struct pointer *p, uint16_t first)
{
    if (!p->within)
        return;
    prof_cxx_scope_again(x, it, p->copy, (uint16_t)(first + 1));
    prof_cxx_scope(x, it, p->within, it->node,
                   p->copy ? (uint16_t)(first + 1) : p->scope);
}

void prof_cxx_print_pointer(struct cxx *x, const struct cxx_item *it)
{
    uint16_t first = prof_cxx_scope_next(x);
    struct pointer p = pointer_of(x, it);
    enum cxx_wrap wrap =
        p.copy ? CXX_WRAP_NONE : prof_cxx_wrap_of(x, it, p.to, p.scope);

    queue_pointee(x, it, &p, first, CXX_PRE);
    if (wrap == CXX_WRAP_ARRAY)
        prof_cxx_text(x, " (");
    else if (wrap == CXX_WRAP_FUNCTION)
        prof_cxx_queue(x, it, CXX_PAREN, 0)->aux = p.kind == CXX_PTRMEM;
    switch (p.kind) {
    case CXX_POINTER:
        prof_cxx_text(x, "*");
        break;
    case CXX_LREF:
        prof_cxx_text(x, "&");
        break;
    case CXX_RREF:
        prof_cxx_text(x, "&&");
        break;
    default:
        prof_cxx_queue(x, it, CXX_MEMBER_OF, cxx_at(x, it->node)->a);
    }
    if (wrap != CXX_WRAP_NONE && (it->flags & CXX_IN_LAMBDA) && !x->llvm)
        prof_cxx_queue(x, it, CXX_LEAK, 0);
    end_pointer(x, it, &p, first);
}

void prof_cxx_post_pointer(struct cxx *x, const struct cxx_item *it)
{
    uint16_t first = prof_cxx_scope_next(x);
    struct pointer p = pointer_of(x, it);

    if (!p.copy && prof_cxx_wrap_of(x, it, p.to, p.scope) != CXX_WRAP_NONE)
        prof_cxx_text(x, ")");
    queue_pointee(x, it, &p, first, CXX_POST);
    end_pointer(x, it, &p, first);
}
