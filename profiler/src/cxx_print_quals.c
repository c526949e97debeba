/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names, printing: what stands behind a function, const, volatile and the
 * like. */

#include "cxx_print.h"

static void print_fn_qual(struct cxx *x, const struct cxx_item *it,
                          const struct cxx_node *n)
{
    static const char text[][18] = {
        " const", " volatile",         " restrict", " &",
        " &&",    " transaction_safe", " noexcept", " throw",
    };

    prof_out_string(x->out, text[n->kind - CXX_F_CONST]);
    if (n->b == 0)
        return;
    prof_out_char(x->out, '(');
    prof_cxx_queue(x, it, CXX_BOTH, n->b);
    prof_cxx_text(x, ")");
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
        prof_out_char(x->out, '#');
        prof_out_decimal(x->out, n->c + 1u);
        prof_out_char(x->out, '}');
    } else if (n->kind == CXX_TPARAM_DECL) {
        prof_cxx_print_invented(x, it->node, (uint16_t)(it->aux - 1));
    } else if (n->kind == CXX_DEFAULT_ARG) {
        prof_out_string(x->out, "{default arg#");
        prof_out_decimal(x->out, n->c);
        prof_out_string(x->out, "}::");
    }
}
