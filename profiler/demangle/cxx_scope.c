/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: resolves template parameters to arguments.
 *
 * A parameter refers to an argument of the innermost enclosing template. That
 * argument is printed in the scope outside of the template, because parameters
 * in it refer to outer templates. A pack refers to all of its elements.
 */

#include "demangle/cxx_print.h"

uint16_t prof_cxx_length(const struct cxx *x, uint16_t list)
{
    uint16_t n = 0;

    for (; list != 0 && cxx_at(x, list)->a != 0; list = cxx_at(x, list)->b)
        n++;
    demangle_pay(x->out, n / 8u);
    return n;
}

/* Element (index) of a list, 0 if it has fewer. */
static uint16_t element(struct cxx *x, uint16_t list, uint16_t index)
{
    demangle_pay(x->out, 1u + index / 8u);
    while (list != 0 && index-- > 0)
        list = cxx_at(x, list)->b;
    return list == 0 ? 0 : cxx_at(x, list)->a;
}

uint16_t prof_cxx_scope_next(const struct cxx *x)
{
    /* What a handler queues last is deepest after the turn-around, so a scope
   * queued last will stand where the first item is queued now. */
    return (uint16_t)((struct cxx_item *)x->floor - x->item + 1);
}

void prof_cxx_scope(struct cxx *x, const struct cxx_item *it, uint8_t flags,
                    uint16_t node, uint16_t outer)
{
    struct cxx_item *scope = prof_cxx_queue(x, it, CXX_SCOPE, node);

    scope->flags = flags;
    scope->pack = it->scope;
    scope->scope = outer;
    scope->aux = 0;
}

/* The innermost scope of a template at or around (scope), 0 if none. */
static uint16_t template_scope(struct cxx *x, uint16_t scope)
{
    while (scope != 0 && cxx_scope_at(x, scope)->flags != 0 &&
           demangle_pay(x->out, 1))
        scope = cxx_scope_at(x, scope)->scope;
    return scope;
}

/* Argument (index) out of the list, one element of it if it is a pack. */
static uint16_t argument(struct cxx *x, const struct cxx_item *it,
                         uint16_t list, uint16_t index)
{
    uint16_t found = element(x, list, index);

    if (found != 0 && cxx_at(x, found)->kind == CXX_LIST &&
        it->pack != CXX_PACK_ALL)
        found = element(x, found, it->pack);
    if (found == 0)
        x->failed = true;
    return found;
}

bool prof_cxx_resolve(struct cxx *x, const struct cxx_item *it, uint16_t *node,
                      uint16_t *scope)
{
    while (cxx_at(x, *node)->kind == CXX_TPARAM) {
        uint16_t in = template_scope(x, *scope);

        if (in == 0) {
            x->failed = true;
            return false;
        }
        *node = argument(x, it, cxx_scope_at(x, in)->node, cxx_at(x, *node)->a);
        if (*node == 0)
            return false;
        *scope = cxx_scope_at(x, in)->scope;
    }
    return true;
}

/* Copies the templates at and around (scope) into a list of nodes, which
 * outlives the scopes. */
static uint16_t copy_scope(struct cxx *x, uint16_t scope)
{
    uint16_t first = 0, last = 0;

    scope = template_scope(x, scope);
    while (scope != 0 && !x->failed) {
        struct cxx_item *at = cxx_scope_at(x, scope);
        bool made = at->aux != 0;
        uint16_t copy =
            made ? at->aux : prof_cxx_node(x, CXX_LIST, at->node, 0, 0);

        at->aux = copy;
        if (first == 0)
            first = copy;
        else
            cxx_at(x, last)->b = copy;
        last = copy;
        if (made)
            break;
        scope = template_scope(x, at->scope);
    }
    return first;
}

/* Whether (scope) lies within the printing of the reference or of its
 * parameter. */
static bool is_within(struct cxx *x, uint16_t scope, uint16_t reference,
                      uint16_t parameter)
{
    while (scope != 0 && demangle_pay(x->out, 1)) {
        const struct cxx_item *at = cxx_scope_at(x, scope);

        if ((at->flags & CXX_FOR_REF) && at->node == reference)
            return true;
        if (at->flags == CXX_FOR_PARAM && at->node == parameter)
            return true;
        if (at->flags == (CXX_FOR_REF | CXX_FOR_PARAM) &&
            cxx_at(x, at->node)->a == parameter)
            return true;
        scope = at->pack;
    }
    return false;
}

bool prof_cxx_resolve_reference(struct cxx *x, const struct cxx_item *it,
                                uint16_t *node, uint16_t *scope, uint16_t *copy)
{
    struct cxx_node *parameter = cxx_at(x, *node);
    uint16_t in;

    *copy = 0;
    if (x->smashing && !parameter->c) {
        uint16_t saved = copy_scope(x, *scope);

        parameter->b = saved;
        parameter->c = 1;
    } else if (x->smashing && !is_within(x, *scope, it->node, *node)) {
        if (parameter->b == 0) {
            x->failed = true;
            return false;
        }
        *copy = cxx_at(x, parameter->b)->b;
        *node = argument(x, it, cxx_at(x, parameter->b)->a, parameter->a);
        *scope = 0;
        return *node != 0;
    }
    in = template_scope(x, *scope);
    *node =
        in == 0 ? 0 : argument(x, it, cxx_scope_at(x, in)->node, parameter->a);
    if (*node == 0) {
        x->failed = true;
        return false;
    }
    *scope = cxx_scope_at(x, in)->scope;
    return true;
}

void prof_cxx_scope_again(struct cxx *x, const struct cxx_item *it,
                          uint16_t copy, uint16_t first)
{
    uint16_t links = 0;

    for (uint16_t at = copy; at != 0; at = cxx_at(x, at)->b)
        links++;
    while (links-- > 0) {
        uint16_t at = copy;

        for (uint16_t i = 0; i < links; i++)
            at = cxx_at(x, at)->b;
        prof_cxx_scope(x, it, 0, cxx_at(x, at)->a,
                       cxx_at(x, at)->b == 0 ? 0
                                             : (uint16_t)(first + links + 1));
        x->item->aux = at;
    }
}

uint16_t prof_cxx_declared(struct cxx *x, uint16_t scope, uint16_t index)
{
    while (scope != 0 && cxx_scope_at(x, scope)->flags != CXX_FOR_LAMBDA &&
           demangle_pay(x->out, 1))
        scope = cxx_scope_at(x, scope)->scope;
    if (scope == 0 || cxx_scope_at(x, scope)->flags != CXX_FOR_LAMBDA)
        return 0;
    return element(x, cxx_at(x, cxx_scope_at(x, scope)->node)->b, index);
}

/* Which operands of a kind are nodes to look for packs in: 1 = a, 2 = b. */
static uint8_t operands(uint8_t kind)
{
    switch (kind) {
    case CXX_NAME:
    case CXX_WORD:
    case CXX_STD:
    case CXX_OPERATOR:
    case CXX_BUILTIN:
    case CXX_EXPANSION:
    case CXX_LAMBDA:
    case CXX_UNNAMED:
    case CXX_FPARAM:
    case CXX_NULLARY:
    case CXX_TAGGED:
    case CXX_MODULE:
    case CXX_TPARAM:
    case CXX_DEFAULT_ARG:
    case CXX_FLOATN:
    case CXX_BITINT:
    case CXX_TPARAM_DECL:
    case CXX_BINDING:
        return 0;
    default:
        return 3;
    }
}

uint16_t prof_cxx_find_pack(struct cxx *x, const struct cxx_item *it,
                            uint16_t node)
{
    /* The nodes still to be looked at lie below the stack. */
    uint16_t *top = (uint16_t *)(void *)x->item;
    uint16_t *bottom = (uint16_t *)(void *)(cxx_at(x, x->node_count));
    uint16_t *at = top;

    *--at = node;
    while (at != top) {
        const struct cxx_node *n = cxx_at(x, *at++);
        uint8_t which = operands(n->kind);

        if (!demangle_pay(x->out, 1))
            return 0;
        if (n->kind == CXX_TPARAM) {
            uint16_t in = template_scope(x, it->scope);
            uint16_t found =
                in == 0 ? 0 : element(x, cxx_scope_at(x, in)->node, n->a);

            if (found != 0 && cxx_at(x, found)->kind == CXX_LIST)
                return found;
        }
        if (at - bottom < 3) {
            x->failed = true;
            return 0;
        }
        if ((which & 2) && n->b != 0)
            *--at = n->b;
        if ((which & 1) && n->a != 0)
            *--at = n->a;
    }
    return 0;
}
