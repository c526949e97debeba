/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: requires-expressions, and the declarations of invented
 * template parameters.
 */

#include "demangle/cxx_print.h"

static void print_requirements(struct cxx *x, const struct cxx_item *it,
                               const struct cxx_node *n)
{
    prof_cxx_format(x, it, n->a != 0 ? "requires (%[a) {" : "requires {", n->a,
                    0);
    for (uint16_t at = n->b; at != 0; at = cxx_at(x, at)->b)
        prof_cxx_format(x, it, " %a", cxx_at(x, at)->a, 0);
    prof_cxx_text(x, " }");
}

static void print_requirement(struct cxx *x, const struct cxx_item *it,
                              const struct cxx_node *n)
{
    const char *format = "%a;";

    if (n->c == 'T')
        format = "typename %a;";
    else if (n->c == 'Q')
        format = "requires %a;";
    else if (n->c == 'N')
        format = n->b != 0 ? "{%a} noexcept -> %b;" : "{%a} noexcept;";
    else if (n->b != 0)
        format = "{%a} -> %b;";
    prof_cxx_format(x, it, format, n->a, n->b);
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
    if (!x->llvm || n->b > 0)
        demangle_put_decimal(x->out, x->llvm ? n->b - 1u : index);
}

/* it->aux = place of the parameter + 1; 0: it gets no name */
static void print_declaration(struct cxx *x, const struct cxx_item *it,
                              const struct cxx_node *n)
{
    bool pack = n->c == 'p';

    if (pack)
        n = cxx_at(x, n->a);
    prof_cxx_format(x, it,
                    n->c == 'y'   ? "typename"
                    : n->c == 't' ? "template<%[a%{> class%|> typename%}"
                                  : "%a",
                    n->a, 0);
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
