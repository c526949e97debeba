/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names, printer: the qualifiers after a function's parameters. */

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
void prof_cxx_print_quals(struct cxx *x, const struct cxx_item *it)
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

void prof_cxx_print_piece(struct cxx *x, const struct cxx_item *it)
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
