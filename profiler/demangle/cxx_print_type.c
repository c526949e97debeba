/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: types, both halves of them, and what their template
 * parameters mean.
 *
 * A function type or an array is "open" between its halves; x->open counts
 * them. So a returned type that left something open gets no blank before the
 * function's name, and a type that left nothing open has no second half.
 *
 * A parameter refers to an argument of the innermost enclosing template. That
 * argument is printed in the scope outside of the template, because parameters
 * in it refer to outer templates. A pack refers to all of its elements.
 */

#include "demangle/cxx_print.h"

uint32_t cxx_length(const struct cxx *x, uint32_t list)
{
    uint32_t n = 0;

    for (; list != 0 && cxx_at(x, list)->a != 0; list = cxx_at(x, list)->b)
        n++;
    demangle_pay(x->out, n / 8u);
    return n;
}

/* Element (index) of a list, 0 if it has fewer. */
static uint32_t element(struct cxx *x, uint32_t list, uint32_t index)
{
    demangle_pay(x->out, 1u + index / 8u);
    while (list != 0 && index-- > 0)
        list = cxx_at(x, list)->b;
    return list == 0 ? 0 : cxx_at(x, list)->a;
}

uint32_t cxx_scope_next(const struct cxx *x)
{
    /* What a handler queues last is deepest after the turn-around, so a scope
   * queued last will stand where the first item is queued now. */
    return (struct cxx_item *)x->floor - x->item + 1;
}

void cxx_scope(struct cxx *x, uint8_t flags, uint32_t node, uint32_t outer)
{
    struct cxx_item *scope = cxx_queue(x, CXX_SCOPE, node);

    scope->flags = flags;
    scope->pack = x->it.scope;
    scope->scope = outer;
    scope->aux = 0;
}

/* The innermost scope of a template at or around (scope), 0 if none. */
static uint32_t template_scope(struct cxx *x, uint32_t scope)
{
    while (scope != 0 && cxx_scope_at(x, scope)->flags != 0 &&
           demangle_pay(x->out, 1))
        scope = cxx_scope_at(x, scope)->scope;
    return scope;
}

/* Argument (index) out of the list, one element of it if it is a pack. */
static uint32_t argument(struct cxx *x, uint32_t list, uint32_t index)
{
    uint32_t found = element(x, list, index);

    if (found != 0 && cxx_at(x, found)->kind == CXX_LIST &&
        x->it.pack != CXX_PACK_ALL)
        found = element(x, found, x->it.pack);
    if (found == 0)
        x->failed = true;
    return found;
}

/*
 * Follows template parameters from (*node) in (*scope) to what they mean;
 * changes both. False (and failure): they mean nothing.
 */
static bool cxx_resolve(struct cxx *x, uint32_t *node, uint32_t *scope)
{
    while (cxx_at(x, *node)->kind == CXX_TPARAM) {
        uint32_t in = template_scope(x, *scope);

        if (in == 0) {
            x->failed = true;
            return false;
        }
        *node = argument(x, cxx_scope_at(x, in)->node, cxx_at(x, *node)->a);
        if (*node == 0)
            return false;
        *scope = cxx_scope_at(x, in)->scope;
    }
    return true;
}

/* Copies the templates at and around (scope) into a list of nodes, which
 * outlives the scopes. */
static uint32_t copy_scope(struct cxx *x, uint32_t scope)
{
    uint32_t first = 0, last = 0;

    scope = template_scope(x, scope);
    while (scope != 0 && !x->failed) {
        struct cxx_item *at = cxx_scope_at(x, scope);
        bool made = at->aux != 0;
        uint32_t copy = made ? at->aux : cxx_node(x, CXX_LIST, at->node, 0, 0);

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
static bool is_within(struct cxx *x, uint32_t scope, uint32_t reference,
                      uint32_t parameter)
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

/*
 * The same for the parameter that the reference (x->it.node) refers to, one
 * step, as GNU does it. It remembers in which scope it first saw a parameter
 * after a reference, and looks there again when it comes upon it from
 * elsewhere. *copy is then what is left of that scope, to be queued again with
 * cxx_scope_again(), else 0.
 */
static bool cxx_resolve_reference(struct cxx *x, uint32_t *node,
                                  uint32_t *scope, uint32_t *copy)
{
    struct cxx_node *parameter = cxx_at(x, *node);
    uint32_t in;

    *copy = 0;
    if (x->smashing && !parameter->c) {
        uint32_t saved = copy_scope(x, *scope);

        parameter->b = saved;
        parameter->c = 1;
    } else if (x->smashing && !is_within(x, *scope, x->it.node, *node)) {
        if (parameter->b == 0) {
            x->failed = true;
            return false;
        }
        *copy = cxx_at(x, parameter->b)->b;
        *node = argument(x, cxx_at(x, parameter->b)->a, parameter->a);
        *scope = 0;
        return *node != 0;
    }
    in = template_scope(x, *scope);
    *node = in == 0 ? 0 : argument(x, cxx_scope_at(x, in)->node, parameter->a);
    if (*node == 0) {
        x->failed = true;
        return false;
    }
    *scope = cxx_scope_at(x, in)->scope;
    return true;
}

/* Queues the scopes of a copy; they are (first), (first) + 1 and so on. */
static void cxx_scope_again(struct cxx *x, uint32_t copy, uint32_t first)
{
    uint32_t links = 0;

    for (uint32_t at = copy; at != 0; at = cxx_at(x, at)->b)
        links++;
    while (links-- > 0) {
        uint32_t at = copy;

        for (uint32_t i = 0; i < links; i++)
            at = cxx_at(x, at)->b;
        cxx_scope(x, 0, cxx_at(x, at)->a,
                  cxx_at(x, at)->b == 0 ? 0 : first + links + 1);
        x->item->aux = at;
    }
}

/* What declares parameter (index) of the lambda that is being printed in
 * (scope), 0 if nothing does. */
static uint32_t cxx_declared(struct cxx *x, uint32_t scope, uint32_t index)
{
    while (scope != 0 && cxx_scope_at(x, scope)->flags != CXX_FOR_LAMBDA &&
           demangle_pay(x->out, 1))
        scope = cxx_scope_at(x, scope)->scope;
    if (scope == 0 || cxx_scope_at(x, scope)->flags != CXX_FOR_LAMBDA)
        return 0;
    return element(x, cxx_at(x, cxx_scope_at(x, scope)->node)->b, index);
}

/* Whether the operands of a kind are nodes to look for packs in. */
static bool has_operands(uint8_t kind)
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
        return false;
    default:
        return true;
    }
}

uint32_t cxx_find_pack(struct cxx *x, uint32_t node)
{
    /* The nodes still to be looked at lie below the stack. */
    uint16_t *top = (uint16_t *)(void *)x->item;
    uint16_t *bottom = (uint16_t *)(void *)(cxx_at(x, x->node_count));
    uint16_t *at = top;

    *--at = node;
    while (at != top) {
        const struct cxx_node *n = cxx_at(x, *at++);
        bool within = has_operands(n->kind);

        if (!demangle_pay(x->out, 1))
            return 0;
        if (n->kind == CXX_TPARAM) {
            uint32_t in = template_scope(x, x->it.scope);
            uint32_t found =
                in == 0 ? 0 : element(x, cxx_scope_at(x, in)->node, n->a);

            if (found != 0 && cxx_at(x, found)->kind == CXX_LIST)
                return found;
        }
        if (at - bottom < 3) {
            x->failed = true;
            return 0;
        }
        if (within && n->b != 0)
            *--at = n->b;
        if (within && n->a != 0)
            *--at = n->a;
    }
    return 0;
}
/*
 * What a modifier of (node) has to be wrapped around. Qualifiers of an array
 * are printed with its element; those of a function have their own parenthesis.
 */
enum cxx_wrap { CXX_WRAP_NONE, CXX_WRAP_ARRAY, CXX_WRAP_FUNCTION };

static enum cxx_wrap cxx_wrap_of(struct cxx *x, uint32_t node, uint32_t scope)
{
    bool qualified = false;

    for (;;) {
        const struct cxx_node *n = cxx_at(x, node);

        if (n->kind == CXX_TPARAM) {
            if ((x->it.flags & CXX_IN_LAMBDA) || !cxx_resolve(x, &node, &scope))
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
    uint32_t to;
    uint32_t scope;
    uint32_t copy; /* scopes to be opened again */
};

/* & and && to a parameter that is itself a reference: & wins. */
static struct pointer pointer_of(struct cxx *x)
{
    const struct cxx_node *n = cxx_at(x, x->it.node);
    struct pointer p = {.kind = n->kind,
                        .to = n->kind == CXX_PTRMEM ? n->b : n->a,
                        .scope = x->it.scope};
    const struct cxx_node *sub = cxx_at(x, p.to);

    if ((p.kind != CXX_LREF && p.kind != CXX_RREF) ||
        (x->it.flags & CXX_IN_LAMBDA) || sub->kind != CXX_TPARAM ||
        !cxx_resolve_reference(x, &p.to, &p.scope, &p.copy))
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

static void print_mark(struct cxx *x, const struct pointer *p,
                       enum cxx_wrap wrap)
{
    if (wrap == CXX_WRAP_ARRAY)
        cxx_text(x, " (");
    else if (wrap == CXX_WRAP_FUNCTION)
        cxx_queue(x, CXX_PAREN, 0)->aux = p->kind == CXX_PTRMEM;
    if (p->kind == CXX_PTRMEM)
        cxx_queue(x, CXX_MEMBER_OF, cxx_at(x, x->it.node)->a);
    else
        cxx_text(x, p->kind == CXX_POINTER ? "*"
                    : p->kind == CXX_LREF  ? "&"
                                           : "&&");
    if (wrap != CXX_WRAP_NONE && (x->it.flags & CXX_IN_LAMBDA) && !x->llvm)
        cxx_queue(x, CXX_LEAK, 0);
}

/* Half (op) of a pointer. The scopes that it makes are queued last. */
static void print_pointer(struct cxx *x, uint8_t op)
{
    uint32_t first = cxx_scope_next(x);
    uint16_t outer = x->it.scope;
    struct pointer p = pointer_of(x);
    enum cxx_wrap wrap = p.copy ? CXX_WRAP_NONE : cxx_wrap_of(x, p.to, p.scope);

    if (op == CXX_POST && wrap != CXX_WRAP_NONE)
        cxx_text(x, ")");
    x->it.scope = (uint16_t)(p.within ? first : p.scope);
    cxx_queue(x, op, p.to);
    x->it.scope = outer;
    if (op == CXX_PRE)
        print_mark(x, &p, wrap);
    if (!p.within)
        return;
    cxx_scope_again(x, p.copy, first + 1);
    cxx_scope(x, p.within, x->it.node, p.copy ? first + 1 : p.scope);
}

static bool is_waiting(unsigned waiting, unsigned which)
{
    for (; waiting != 0; waiting >>= 2)
        if ((waiting & 3) == which)
            return true;
    return false;
}

static unsigned turned(unsigned waiting)
{
    unsigned back = 0;

    for (; waiting != 0; waiting >>= 2)
        back = back << 2 | (waiting & 3);
    return back;
}

static void queue_cv(struct cxx *x, unsigned which)
{
    static const char text[][10] = {"", " const", " volatile", " restrict"};

    cxx_text(x, text[which]);
}

/* A cv-qualifier: printed once, even if a template argument repeats it. */
static void print_cv(struct cxx *x, const struct cxx_node *n)
{
    unsigned which = n->kind - CXX_CONST + 1u;
    unsigned waiting = (x->it.flags & CXX_WAITING) >> CXX_WAITING_SHIFT;
    bool again = is_waiting(waiting, which);
    enum cxx_wrap wrap = cxx_wrap_of(x, n->a, x->it.scope);

    if (!again)
        waiting = (waiting << 2 | which) & 0x3f;
    cxx_queue_qualified(x, n->a, waiting << CXX_WAITING_SHIFT);
    if (wrap == CXX_WRAP_FUNCTION)
        cxx_queue(x, CXX_PAREN, 0)->aux = 1;
    if (!again && wrap != CXX_WRAP_ARRAY)
        queue_cv(x, which);
}

static void print_vendor_qual(struct cxx *x, const struct cxx_node *n)
{
    enum cxx_wrap wrap = cxx_wrap_of(x, n->a, x->it.scope);

    cxx_queue(x, CXX_PRE, n->a);
    if (wrap == CXX_WRAP_FUNCTION)
        cxx_queue(x, CXX_PAREN, 0)->aux = 1;
    else if (wrap == CXX_WRAP_ARRAY)
        cxx_text(x, " (");
    cxx_text(x, " ");
    cxx_whole(x, n->b);
}

/* An array's element and the qualifiers that wait for it: the innermost array
 * prints them, and each array turns their order around. */
static void print_array(struct cxx *x, const struct cxx_node *n)
{
    unsigned waiting = turned((x->it.flags & CXX_WAITING) >> CXX_WAITING_SHIFT);

    x->open++;
    cxx_queue_qualified(x, n->a, waiting << CXX_WAITING_SHIFT);
    if (waiting == 0 || cxx_wrap_of(x, n->a, x->it.scope) == CXX_WRAP_ARRAY)
        return;
    for (; waiting != 0; waiting >>= 2)
        queue_cv(x, waiting & 3);
}

/* A template parameter of a lambda: declared with a name, or an "auto". */
static void print_auto(struct cxx *x, const struct cxx_node *n)
{
    uint32_t declared = cxx_declared(x, x->it.scope, n->a);

    if (declared != 0) {
        cxx_print_invented(x, declared, n->a);
        return;
    }
    demangle_put_string(x->out, "auto");
    if (!x->llvm) {
        demangle_put_char(x->out, ':');
        demangle_put_decimal(x->out, n->a + 1u);
    }
}

/* Half (op) of what a template parameter means. */
static void print_parameter(struct cxx *x, uint8_t op)
{
    uint32_t node = x->it.node;
    uint32_t scope = x->it.scope;
    uint32_t first = cxx_scope_next(x);
    struct cxx_item *found;

    if (x->it.flags & CXX_IN_LAMBDA) {
        if (op == CXX_PRE)
            print_auto(x, cxx_at(x, node));
        return;
    }
    if (!cxx_resolve(x, &node, &scope))
        return;
    if (op == CXX_PRE) {
        found = cxx_queue_qualified(x, node, x->it.flags & CXX_WAITING);
    } else {
        found = cxx_queue(x, CXX_POST, node);
        found->flags |= x->it.flags & CXX_IN_ARRAY;
    }
    found->scope = (uint16_t)(x->smashing ? first : scope);
    if (x->smashing)
        cxx_scope(x, CXX_FOR_PARAM, x->it.node, scope);
}

static void print_expansion(struct cxx *x, const struct cxx_node *n)
{
    uint32_t pack = cxx_find_pack(x, n->a);
    struct cxx_item *all;

    if (pack == 0) {
        cxx_queue(x, x->llvm ? CXX_BOTH : CXX_SUB, n->a);
        cxx_text(x, "...");
        return;
    }
    all = cxx_queue(x, CXX_EXPAND, n->a);
    all->pack = 0;
    all->aux = cxx_length(x, pack);
}

/* A function's first half is its returned type; one left open there has its
 * own parenthesis and no blank. */
static void print_function(struct cxx *x, const struct cxx_node *n)
{
    x->open++;
    if (n->a == 0)
        return;
    cxx_queue(x, CXX_PRE, n->a);
    cxx_queue(x, CXX_FN_SPACE, 0)->aux = x->open;
}

/* What qualifies a function; those of a function type follow it. */
static void print_qualified(struct cxx *x, const struct cxx_node *n)
{
    cxx_queue(x, CXX_PRE, n->a);
    if (cxx_wrap_of(x, n->a, x->it.scope) != CXX_WRAP_FUNCTION)
        cxx_queue(x, CXX_PIECE, x->it.node);
}

void cxx_print_type(struct cxx *x)
{
    const struct cxx_node *n = cxx_at(x, x->it.node);

    switch (n->kind) {
    case CXX_POINTER:
    case CXX_LREF:
    case CXX_RREF:
    case CXX_PTRMEM:
        print_pointer(x, CXX_PRE);
        break;
    case CXX_CONST:
    case CXX_VOLATILE:
    case CXX_RESTRICT:
        print_cv(x, n);
        break;
    case CXX_VENDOR_QUAL:
        print_vendor_qual(x, n);
        break;
    case CXX_FUNCTION:
        print_function(x, n);
        break;
    case CXX_ARRAY:
        print_array(x, n);
        break;
    case CXX_EXPANSION:
        print_expansion(x, n);
        break;
    case CXX_TPARAM:
        print_parameter(x, CXX_PRE);
        break;
    default:
        print_qualified(x, n);
    }
}

/* (parameters) qualifiers, then the rest of the returned type. (quals) is the
 * outermost of the qualifiers or the function itself. */
static void post_function(struct cxx *x, uint32_t quals)
{
    const struct cxx_node *n = cxx_at(x, quals);

    while (cxx_is_fn_qual(n))
        n = cxx_at(x, n->a);
    if (n->kind != CXX_FUNCTION)
        return;
    x->open--;
    cxx_text(x, "(");
    cxx_queue_list(x, n->b);
    cxx_text(x, ")");
    cxx_queue(x, CXX_QUALS, quals);
    if (n->a != 0)
        cxx_queue(x, CXX_POST, n->a);
}

static void post_array(struct cxx *x, const struct cxx_node *n)
{
    x->open--;
    cxx_text(x, x->it.flags & CXX_IN_ARRAY ? "[" : " [");
    if (n->b != 0)
        cxx_whole(x, n->b);
    cxx_text(x, "]");
    cxx_queue(x, CXX_POST, n->a)->flags |= CXX_IN_ARRAY;
}

void cxx_print_post(struct cxx *x)
{
    const struct cxx_node *n = cxx_at(x, x->it.node);
    enum cxx_wrap wrap;

    switch (n->kind) {
    case CXX_POINTER:
    case CXX_LREF:
    case CXX_RREF:
    case CXX_PTRMEM:
        print_pointer(x, CXX_POST);
        break;
    case CXX_CONST:
    case CXX_VOLATILE:
    case CXX_RESTRICT:
    case CXX_VENDOR_QUAL:
        wrap = cxx_wrap_of(x, n->a, x->it.scope);
        if (wrap == CXX_WRAP_FUNCTION ||
            (wrap == CXX_WRAP_ARRAY && n->kind == CXX_VENDOR_QUAL))
            cxx_text(x, ")"); /* fall through */
    case CXX_COMPLEX:
    case CXX_IMAGINARY:
    case CXX_VECTOR:
        cxx_queue(x, CXX_POST, n->a)->flags |= x->it.flags & CXX_IN_ARRAY;
        break;
    case CXX_FUNCTION:
        post_function(x, x->it.node);
        break;
    case CXX_ARRAY:
        post_array(x, n);
        break;
    case CXX_TPARAM:
        print_parameter(x, CXX_POST);
        break;
    default:
        if (cxx_is_fn_qual(n))
            post_function(x, x->it.node);
    }
}
