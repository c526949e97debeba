/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: requires-expressions, and the declarations of invented
 * template parameters.
 */

#include "demangle/cxx_print.h"

static void print_requirements(struct cxx *x, const struct cxx_item *it,
                               const struct cxx_node *n)
{
    demangle_put_string(x->out, "requires ");
    if (n->a != 0) {
        prof_cxx_text(x, "(");
        prof_cxx_queue_list(x, it, n->a);
        prof_cxx_text(x, ") ");
    }
    prof_cxx_text(x, "{");
    for (uint16_t at = n->b; at != 0; at = cxx_at(x, at)->b) {
        prof_cxx_text(x, " ");
        prof_cxx_whole(x, it, cxx_at(x, at)->a);
    }
    prof_cxx_text(x, " }");
}

static void print_requirement(struct cxx *x, const struct cxx_item *it,
                              const struct cxx_node *n)
{
    bool braces = n->c == 'N' || n->b != 0;

    if (n->c == 'T')
        demangle_put_string(x->out, "typename ");
    else if (n->c == 'Q')
        demangle_put_string(x->out, "requires ");
    if (braces)
        prof_cxx_text(x, "{");
    prof_cxx_whole(x, it, n->a);
    if (braces)
        prof_cxx_text(x, "}");
    if (n->c == 'N')
        prof_cxx_text(x, " noexcept");
    if (n->b != 0) {
        prof_cxx_text(x, " -> ");
        prof_cxx_whole(x, it, n->b);
    }
    prof_cxx_text(x, ";");
}

/* GNU numbers the parameters by their place, LLVM by their kind. */
void prof_cxx_print_invented(struct cxx *x, uint16_t declaration,
                             uint16_t index)
{
    const struct cxx_node *n = cxx_at(x, declaration);

    if (n->c == 'p')
        n = cxx_at(x, n->a);
    demangle_put_string(x->out, n->c == 'n'   ? "$N"
                                : n->c == 't' ? "$TT"
                                              : "$T");
    if (!x->llvm)
        demangle_put_decimal(x->out, index);
    else if (n->b > 0)
        demangle_put_decimal(x->out, n->b - 1u);
}

/* it->aux = place of the parameter + 1; 0: it gets no name */
static void print_declaration(struct cxx *x, const struct cxx_item *it,
                              const struct cxx_node *n)
{
    bool pack = n->c == 'p';

    if (pack)
        n = cxx_at(x, n->a);
    switch (n->c) {
    case 'y':
        prof_cxx_text(x, "typename");
        break;
    case 't':
        demangle_put_string(x->out, "template<");
        prof_cxx_queue_list(x, it, n->a);
        prof_cxx_text(x, x->llvm ? "> typename" : "> class");
        break;
    default:
        prof_cxx_whole(x, it, n->a);
    }
    if (x->llvm && (it->aux != 0 || pack))
        prof_cxx_text(x, " ");
    if (pack)
        prof_cxx_text(x, "...");
    if (!x->llvm && it->aux != 0)
        prof_cxx_text(x, " ");
    if (it->aux != 0)
        prof_cxx_queue(x, it, CXX_PIECE, it->node)->aux = it->aux;
}

void prof_cxx_print_constraint(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);

    switch (n->kind) {
    case CXX_REQUIRES:
        print_requirements(x, it, n);
        break;
    case CXX_REQUIREMENT:
        print_requirement(x, it, n);
        break;
    default:
        print_declaration(x, it, n);
    }
}
