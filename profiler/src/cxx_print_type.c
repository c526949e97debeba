/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printing: types, both halves of them.
 *
 * A function type or an array is "open" between its halves; x->open counts
 * them. So a returned type that left something open gets no blank before the
 * function's name, and a type that left nothing open has no second half.
 */

#include "cxx_print.h"

enum shape { FLAT, AN_ARRAY, A_FUNCTION };

/* What a pointer to (node) has to be wrapped around. */
static enum shape shape_of(struct cxx *x, const struct cxx_item *it,
                           uint16_t node, uint16_t scope)
{
    for (;;) {
        const struct cxx_node *n = cxx_at(x, node);

        if (n->kind == CXX_TPARAM) {
            if ((it->flags & CXX_IN_LAMBDA) ||
                !prof_cxx_resolve(x, it, &node, &scope))
                return FLAT;
        } else if (n->kind == CXX_ARRAY) {
            return AN_ARRAY;
        } else if (n->kind == CXX_FUNCTION) {
            return A_FUNCTION;
        } else if ((n->kind >= CXX_CONST && n->kind <= CXX_RESTRICT) ||
                   cxx_is_fn_qual(n)) {
            node = n->a;
        } else {
            return FLAT;
        }
    }
}

/* A pointer, reference or pointer to member: its mark, and what to. */
struct pointer {
    uint8_t kind;
    uint16_t to;
    uint16_t scope;
    enum shape shape;
};

/* & and && to a parameter that is itself a reference: & wins. */
static struct pointer pointer_of(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);
    struct pointer p = {n->kind, n->kind == CXX_PTRMEM ? n->b : n->a,
                        it->scope, FLAT};

    if ((p.kind == CXX_LREF || p.kind == CXX_RREF) &&
        !(it->flags & CXX_IN_LAMBDA) &&
        cxx_at(x, p.to)->kind == CXX_TPARAM &&
        prof_cxx_resolve(x, it, &p.to, &p.scope)) {
        const struct cxx_node *sub = cxx_at(x, p.to);

        if (sub->kind == CXX_LREF || sub->kind == CXX_RREF) {
            if (sub->kind == CXX_LREF)
                p.kind = CXX_LREF;
            p.to = sub->a;
        }
    }
    p.shape = shape_of(x, it, p.to, p.scope);
    return p;
}

static void print_pointer(struct cxx *x, const struct cxx_item *it)
{
    struct pointer p = pointer_of(x, it);

    prof_cxx_queue(x, it, CXX_PRE, p.to)->scope = p.scope;
    if (p.shape == AN_ARRAY)
        prof_cxx_text(x, " (");
    else if (p.shape == A_FUNCTION)
        prof_cxx_queue(x, it, CXX_PAREN, 0)->aux = p.kind == CXX_PTRMEM;
    switch (p.kind) {
    case CXX_POINTER: prof_cxx_text(x, "*"); break;
    case CXX_LREF: prof_cxx_text(x, "&"); break;
    case CXX_RREF: prof_cxx_text(x, "&&"); break;
    default:
        prof_cxx_queue(x, it, CXX_MEMBER_OF, cxx_at(x, it->node)->a);
    }
}

static void post_pointer(struct cxx *x, const struct cxx_item *it)
{
    struct pointer p = pointer_of(x, it);

    if (p.shape != FLAT)
        prof_cxx_text(x, ")");
    prof_cxx_queue(x, it, CXX_POST, p.to)->scope = p.scope;
}

/* const and its kin: said once, even if an argument says it again. */
static void print_cv(struct cxx *x, const struct cxx_item *it,
                     const struct cxx_node *n)
{
    static const char text[][10] = {" const", " volatile", " restrict"};
    unsigned which = n->kind - CXX_CONST;
    uint8_t bit = (uint8_t)(CXX_HAS_CONST << which);
    struct cxx_item *inner = prof_cxx_queue(x, it, CXX_PRE, n->a);

    inner->flags |= (it->flags & CXX_HAS_ANY) | bit;
    if (it->flags & bit)
        return;
    prof_cxx_text(x, text[which]);
    if (which == 1)
        prof_cxx_text(x, "e");
    else if (which == 2)
        prof_cxx_text(x, "t");
}

static void print_parameter(struct cxx *x, const struct cxx_item *it,
                            const struct cxx_node *n)
{
    uint16_t node = it->node;
    uint16_t scope = it->scope;
    struct cxx_item *found;

    if (it->flags & CXX_IN_LAMBDA) {
        prof_out_string(x->out, "auto");
        if (!x->llvm) {
            prof_out_char(x->out, ':');
            prof_out_decimal(x->out, n->a + 1u);
        }
        return;
    }
    if (!prof_cxx_resolve(x, it, &node, &scope))
        return;
    found = prof_cxx_queue(x, it, CXX_PRE, node);
    found->scope = scope;
    found->flags |= it->flags & CXX_HAS_ANY;
}

static void print_expansion(struct cxx *x, const struct cxx_item *it,
                            const struct cxx_node *n)
{
    uint16_t pack = prof_cxx_find_pack(x, it, n->a);
    struct cxx_item *all;

    if (pack == 0) {
        prof_cxx_queue(x, it, CXX_SUB, n->a);
        prof_cxx_text(x, "...");
        return;
    }
    all = prof_cxx_queue(x, it, CXX_EXPAND, n->a);
    all->pack = 0;
    all->aux = prof_cxx_length(x, pack);
}

static void print_floatn(struct cxx *x, const struct cxx_item *it,
                         const struct cxx_node *n)
{
    prof_out_string(x->out, n->c == 'b' ? "std::bfloat" : "_Float");
    prof_cxx_queue(x, it, CXX_BOTH, n->a);
    if (n->c == 'x')
        prof_cxx_text(x, "x");
    else if (n->c == 'b')
        prof_cxx_text(x, "_t");
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

static void wrap(struct cxx *x, const struct cxx_item *it, const char *before,
                 const char *after)
{
    prof_out_string(x->out, before);
    prof_cxx_queue(x, it, CXX_BOTH, cxx_at(x, it->node)->a);
    prof_cxx_text(x, after);
}

static void print_vector(struct cxx *x, const struct cxx_item *it,
                         const struct cxx_node *n)
{
    prof_cxx_queue(x, it, CXX_PRE, n->a);
    prof_cxx_text(x, x->llvm ? " vector[" : " __vecto");
    if (!x->llvm)
        prof_cxx_text(x, "r(");
    prof_cxx_queue(x, it, CXX_BOTH, n->b);
    prof_cxx_text(x, x->llvm ? "]" : ")");
}

void prof_cxx_print_type(struct cxx *x, const struct cxx_item *it)
{
    static const char elaborated[][8] = {"struct ", "union ", "enum "};
    const struct cxx_node *n = cxx_at(x, it->node);

    switch (n->kind) {
    case CXX_BUILTIN:
        prof_out_string(x->out, prof_cxx_builtins[n->a].name);
        break;
    case CXX_VENDOR: prof_cxx_queue(x, it, CXX_BOTH, n->a); break;
    case CXX_POINTER:
    case CXX_LREF:
    case CXX_RREF:
    case CXX_PTRMEM: print_pointer(x, it); break;
    case CXX_CONST:
    case CXX_VOLATILE:
    case CXX_RESTRICT: print_cv(x, it, n); break;
    case CXX_COMPLEX:
    case CXX_IMAGINARY:
        prof_cxx_queue(x, it, CXX_PRE, n->a);
        prof_cxx_text(x, n->kind == CXX_COMPLEX ? " _Comple" : " _Imagin");
        prof_cxx_text(x, n->kind == CXX_COMPLEX ? "x" : "ary");
        break;
    case CXX_VENDOR_QUAL:
        prof_cxx_queue(x, it, CXX_PRE, n->a);
        prof_cxx_text(x, " ");
        prof_cxx_queue(x, it, CXX_BOTH, n->b);
        break;
    case CXX_FUNCTION: print_function(x, it, n); break;
    case CXX_ARRAY:
        x->open++;
        prof_cxx_queue(x, it, CXX_PRE, n->a)->flags |=
            it->flags & CXX_HAS_ANY;
        break;
    case CXX_VECTOR: print_vector(x, it, n); break;
    case CXX_BITINT:
        wrap(x, it, n->c ? "unsigned _BitInt(" : "_BitInt(", ")");
        break;
    case CXX_FLOATN: print_floatn(x, it, n); break;
    case CXX_ELABORATED: wrap(x, it, elaborated[n->c], ""); break;
    case CXX_DECLTYPE:
        wrap(x, it, x->llvm ? "decltype(" : "decltype (", ")");
        break;
    case CXX_EXPANSION: print_expansion(x, it, n); break;
    case CXX_TPARAM: print_parameter(x, it, n); break;
    default: /* what qualifies a function, or a name that is none */
        prof_cxx_queue(x, it, CXX_PRE, n->a);
        if (shape_of(x, it, n->a, it->scope) != A_FUNCTION)
            prof_cxx_queue(x, it, CXX_PIECE, it->node);
    }
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
    prof_cxx_queue(x, it, CXX_LIST_ALL, n->b);
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
        prof_cxx_queue(x, it, CXX_BOTH, n->b);
    prof_cxx_text(x, "]");
    prof_cxx_queue(x, it, CXX_POST, n->a)->flags |= CXX_IN_ARRAY;
}

void prof_cxx_print_post(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);
    uint16_t node = it->node;
    uint16_t scope = it->scope;

    switch (n->kind) {
    case CXX_POINTER:
    case CXX_LREF:
    case CXX_RREF:
    case CXX_PTRMEM: post_pointer(x, it); break;
    case CXX_CONST:
    case CXX_VOLATILE:
    case CXX_RESTRICT:
    case CXX_COMPLEX:
    case CXX_IMAGINARY:
    case CXX_VENDOR_QUAL:
    case CXX_VECTOR:
        prof_cxx_queue(x, it, CXX_POST, n->a)->flags |=
            it->flags & CXX_IN_ARRAY;
        break;
    case CXX_FUNCTION: post_function(x, it, it->node); break;
    case CXX_ARRAY: post_array(x, it, n); break;
    case CXX_TPARAM:
        if ((it->flags & CXX_IN_LAMBDA) ||
            !prof_cxx_resolve(x, it, &node, &scope))
            break;
        prof_cxx_queue(x, it, CXX_POST, node)->scope = scope;
        break;
    default:
        if (cxx_is_fn_qual(n))
            post_function(x, it, it->node);
    }
}

/* A chain of qualifiers from the innermost to the outermost one. */
void prof_cxx_print_quals(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);

    if (!cxx_is_fn_qual(n))
        return;
    prof_cxx_queue(x, it, CXX_QUALS, n->a);
    prof_cxx_queue(x, it, CXX_PIECE, it->node);
}

static void print_fn_qual(struct cxx *x, const struct cxx_item *it,
                          const struct cxx_node *n)
{
    static const char text[][18] = {
        " const", " volatile", " restrict", " &", " &&", " transaction_safe",
        " noexcept", " throw",
    };

    prof_out_string(x->out, text[n->kind - CXX_F_CONST]);
    if (n->b == 0)
        return;
    prof_out_char(x->out, '(');
    prof_cxx_queue(x, it, CXX_BOTH, n->b);
    prof_cxx_text(x, ")");
}

void prof_cxx_print_piece(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);

    if (cxx_is_fn_qual(n)) {
        print_fn_qual(x, it, n);
    } else if (n->kind == CXX_LAMBDA) {
        prof_out_decimal(x->out, n->c + 1u);
        prof_out_char(x->out, '}');
    } else if (n->kind == CXX_DEFAULT_ARG) {
        prof_out_string(x->out, "{default arg#");
        prof_out_decimal(x->out, n->c);
        prof_out_string(x->out, "}::");
    }
}
