/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: types, both halves of them.
 *
 * A function type or an array is "open" between its halves; x->open counts
 * them. So a returned type that left something open gets no blank before the
 * function's name, and a type that left nothing open has no second half.
 */

#include "demangle/cxx_print.h"

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

    prof_cxx_text(x, text[which]);
}

/* A cv-qualifier: printed once, even if a template argument repeats it. */
static void print_cv(struct cxx *x, const struct cxx_item *it,
                     const struct cxx_node *n)
{
    unsigned which = n->kind - CXX_CONST + 1u;
    unsigned waiting = (it->flags & CXX_WAITING) >> CXX_WAITING_SHIFT;
    bool again = is_waiting(waiting, which);
    enum cxx_wrap wrap = prof_cxx_wrap_of(x, it, n->a, it->scope);

    if (!again)
        waiting = (waiting << 2 | which) & 0x3f;
    prof_cxx_queue_qualified(x, it, n->a, waiting << CXX_WAITING_SHIFT);
    if (wrap == CXX_WRAP_FUNCTION)
        prof_cxx_queue(x, it, CXX_PAREN, 0)->aux = 1;
    if (!again && wrap != CXX_WRAP_ARRAY)
        queue_cv(x, which);
}

static void print_vendor_qual(struct cxx *x, const struct cxx_item *it,
                              const struct cxx_node *n)
{
    enum cxx_wrap wrap = prof_cxx_wrap_of(x, it, n->a, it->scope);

    prof_cxx_queue(x, it, CXX_PRE, n->a);
    if (wrap == CXX_WRAP_FUNCTION)
        prof_cxx_queue(x, it, CXX_PAREN, 0)->aux = 1;
    else if (wrap == CXX_WRAP_ARRAY)
        prof_cxx_text(x, " (");
    prof_cxx_text(x, " ");
    prof_cxx_whole(x, it, n->b);
}

/* An array's element and the qualifiers that wait for it: the innermost array
 * prints them, and each array turns their order around. */
static void print_array(struct cxx *x, const struct cxx_item *it,
                        const struct cxx_node *n)
{
    unsigned waiting = turned((it->flags & CXX_WAITING) >> CXX_WAITING_SHIFT);

    x->open++;
    prof_cxx_queue_qualified(x, it, n->a, waiting << CXX_WAITING_SHIFT);
    if (waiting == 0 ||
        prof_cxx_wrap_of(x, it, n->a, it->scope) == CXX_WRAP_ARRAY)
        return;
    for (; waiting != 0; waiting >>= 2)
        queue_cv(x, waiting & 3);
}

/* A template parameter of a lambda: declared with a name, or an "auto". */
static void print_auto(struct cxx *x, const struct cxx_item *it,
                       const struct cxx_node *n)
{
    uint16_t declared = prof_cxx_declared(x, it->scope, n->a);

    if (declared != 0) {
        prof_cxx_print_invented(x, declared, n->a);
        return;
    }
    demangle_put_string(x->out, "auto");
    if (!x->llvm) {
        demangle_put_char(x->out, ':');
        demangle_put_decimal(x->out, n->a + 1u);
    }
}

static void print_parameter(struct cxx *x, const struct cxx_item *it,
                            const struct cxx_node *n)
{
    uint16_t node = it->node;
    uint16_t scope = it->scope;
    uint16_t first = prof_cxx_scope_next(x);
    struct cxx_item *found;

    if (it->flags & CXX_IN_LAMBDA) {
        print_auto(x, it, n);
        return;
    }
    if (!prof_cxx_resolve(x, it, &node, &scope))
        return;
    found = prof_cxx_queue_qualified(x, it, node, it->flags & CXX_WAITING);
    found->scope = x->smashing ? first : scope;
    if (x->smashing)
        prof_cxx_scope(x, it, CXX_FOR_PARAM, it->node, scope);
}

static void post_parameter(struct cxx *x, const struct cxx_item *it)
{
    uint16_t node = it->node;
    uint16_t scope = it->scope;
    uint16_t first = prof_cxx_scope_next(x);
    struct cxx_item *found;

    if ((it->flags & CXX_IN_LAMBDA) || !prof_cxx_resolve(x, it, &node, &scope))
        return;
    found = prof_cxx_queue(x, it, CXX_POST, node);
    found->scope = x->smashing ? first : scope;
    found->flags |= it->flags & CXX_IN_ARRAY;
    if (x->smashing)
        prof_cxx_scope(x, it, CXX_FOR_PARAM, it->node, scope);
}

static void print_expansion(struct cxx *x, const struct cxx_item *it,
                            const struct cxx_node *n)
{
    uint16_t pack = prof_cxx_find_pack(x, it, n->a);
    struct cxx_item *all;

    if (pack == 0) {
        prof_cxx_queue(x, it, x->llvm ? CXX_BOTH : CXX_SUB, n->a);
        prof_cxx_text(x, "...");
        return;
    }
    all = prof_cxx_queue(x, it, CXX_EXPAND, n->a);
    all->pack = 0;
    all->aux = prof_cxx_length(x, pack);
}

/* A function's first half is its returned type; one left open there has its
 * own parenthesis and no blank. */
static void print_function(struct cxx *x, const struct cxx_item *it,
                           const struct cxx_node *n)
{
    x->open++;
    if (n->a == 0)
        return;
    prof_cxx_queue(x, it, CXX_PRE, n->a);
    prof_cxx_queue(x, it, CXX_FN_SPACE, 0)->aux = x->open;
}

/* What qualifies a function; those of a function type follow it. */
static void print_qualified(struct cxx *x, const struct cxx_item *it,
                            const struct cxx_node *n)
{
    prof_cxx_queue(x, it, CXX_PRE, n->a);
    if (prof_cxx_wrap_of(x, it, n->a, it->scope) != CXX_WRAP_FUNCTION)
        prof_cxx_queue(x, it, CXX_PIECE, it->node);
}

void prof_cxx_print_type(struct cxx *x, const struct cxx_item *it)
{
    static const char *const elaborated[] = {"struct %a", "union %a", "enum %a",
                                             "this %a"};
    const struct cxx_node *n = cxx_at(x, it->node);
    const char *format = NULL;

    switch (n->kind) {
    case CXX_POINTER:
    case CXX_LREF:
    case CXX_RREF:
    case CXX_PTRMEM:
        prof_cxx_print_pointer(x, it);
        break;
    case CXX_CONST:
    case CXX_VOLATILE:
    case CXX_RESTRICT:
        print_cv(x, it, n);
        break;
    case CXX_VENDOR_QUAL:
        print_vendor_qual(x, it, n);
        break;
    case CXX_FUNCTION:
        print_function(x, it, n);
        break;
    case CXX_ARRAY:
        print_array(x, it, n);
        break;
    case CXX_BITINT:
        format = n->c == 'U' ? "unsigned _BitInt(%a)" : "_BitInt(%a)";
        break;
    case CXX_FLOATN:
        format = n->c == 'b'   ? "std::bfloat%a_t"
                 : n->c == 'x' ? "_Float%ax"
                               : "_Float%a";
        break;
    case CXX_ELABORATED:
        format = elaborated[n->c];
        break;
    case CXX_EXPANSION:
        print_expansion(x, it, n);
        break;
    case CXX_TPARAM:
        print_parameter(x, it, n);
        break;
    default:
        print_qualified(x, it, n);
    }
    if (format != NULL)
        prof_cxx_format(x, it, format, n->a, 0);
}

/* (parameters) qualifiers, then the rest of the returned type. (quals) is the
 * outermost of the qualifiers or the function itself. */
static void post_function(struct cxx *x, const struct cxx_item *it,
                          uint16_t quals)
{
    const struct cxx_node *n = cxx_at(x, quals);

    while (cxx_is_fn_qual(n))
        n = cxx_at(x, n->a);
    if (n->kind != CXX_FUNCTION)
        return;
    x->open--;
    prof_cxx_text(x, "(");
    prof_cxx_queue_list(x, it, n->b);
    prof_cxx_text(x, ")");
    prof_cxx_queue(x, it, CXX_QUALS, quals);
    if (n->a != 0)
        prof_cxx_queue(x, it, CXX_POST, n->a);
}

static void post_array(struct cxx *x, const struct cxx_item *it,
                       const struct cxx_node *n)
{
    x->open--;
    prof_cxx_text(x, it->flags & CXX_IN_ARRAY ? "[" : " [");
    if (n->b != 0)
        prof_cxx_whole(x, it, n->b);
    prof_cxx_text(x, "]");
    prof_cxx_queue(x, it, CXX_POST, n->a)->flags |= CXX_IN_ARRAY;
}

void prof_cxx_print_post(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);
    enum cxx_wrap wrap;

    switch (n->kind) {
    case CXX_POINTER:
    case CXX_LREF:
    case CXX_RREF:
    case CXX_PTRMEM:
        prof_cxx_post_pointer(x, it);
        break;
    case CXX_CONST:
    case CXX_VOLATILE:
    case CXX_RESTRICT:
    case CXX_VENDOR_QUAL:
        wrap = prof_cxx_wrap_of(x, it, n->a, it->scope);
        if (wrap == CXX_WRAP_FUNCTION ||
            (wrap == CXX_WRAP_ARRAY && n->kind == CXX_VENDOR_QUAL))
            prof_cxx_text(x, ")"); /* fall through */
    case CXX_COMPLEX:
    case CXX_IMAGINARY:
    case CXX_VECTOR:
        prof_cxx_queue(x, it, CXX_POST, n->a)->flags |=
            it->flags & CXX_IN_ARRAY;
        break;
    case CXX_FUNCTION:
        post_function(x, it, it->node);
        break;
    case CXX_ARRAY:
        post_array(x, it, n);
        break;
    case CXX_TPARAM:
        post_parameter(x, it);
        break;
    default:
        if (cxx_is_fn_qual(n))
            post_function(x, it, it->node);
    }
}
