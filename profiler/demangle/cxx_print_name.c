/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: names, encodings and special names.
 */

#include "demangle/cxx_print.h"

static const struct cxx_node *last_component(const struct cxx *x, uint16_t node)
{
    const struct cxx_node *n = cxx_at(x, node);

    for (;;) {
        if (n->kind == CXX_QUAL || n->kind == CXX_LOCAL)
            n = cxx_at(x, n->b);
        else if (n->kind == CXX_TAGGED || n->kind == CXX_ENTITY)
            n = cxx_at(x, n->a);
        else
            return n;
    }
}

static void print_template(struct cxx *x, const struct cxx_item *it,
                           const struct cxx_node *n)
{
    bool conversion = last_component(x, n->a)->kind == CXX_CONVERSION;
    uint16_t scope = prof_cxx_scope_next(x);
    struct cxx_item *name = prof_cxx_whole(x, it, n->a);

    if (conversion)
        name->scope = scope;
    prof_cxx_queue_open(x, it);
    prof_cxx_queue_list(x, it, n->b);
    prof_cxx_queue_close(x, it);
    if (conversion)
        prof_cxx_scope(x, it, 0, n->b, it->scope);
}

/* The core of a function's name, and its qualifiers: (*quals). */
static uint16_t name_core(const struct cxx *x, uint16_t node, uint16_t *quals)
{
    *quals = cxx_is_fn_qual(cxx_at(x, node)) ? node : 0;
    while (cxx_is_fn_qual(cxx_at(x, node)))
        node = cxx_at(x, node)->a;
    return node;
}

/*
 * returned-type name(parameters) qualifiers rest-of-returned-type
 *
 * If the name is a template, the type is printed in its scope, but the name
 * itself is not.
 */
static void print_typed(struct cxx *x, const struct cxx_item *it,
                        const struct cxx_node *n)
{
    const struct cxx_node *function = cxx_at(x, n->b);
    struct cxx_item type = *it;
    bool drop = ((n->flags & CXX_AROUND_LOCAL) && !x->llvm) || x->out->brief;
    uint16_t returned = drop ? 0 : function->a;
    uint16_t quals, local_quals = 0;
    uint16_t core = name_core(x, n->a, &quals);
    const struct cxx_node *template = cxx_at(x, core);

    if (template->kind == CXX_LOCAL) {
        template = cxx_at(x, template->b);
        if (template->kind == CXX_DEFAULT_ARG)
            template = cxx_at(x, template->a);
        if (cxx_is_fn_qual(template)) {
            local_quals = (uint16_t)(template - x->nodes);
            template = cxx_at(x, name_core(x, local_quals, &local_quals));
        }
    }
    if (template->kind == CXX_TEMPLATE)
        type.scope = prof_cxx_scope_next(x);
    if (returned != 0) {
        prof_cxx_queue(x, &type, CXX_PRE, returned);
        prof_cxx_queue(x, &type, CXX_FN_SPACE, 0)->aux = x->open;
    }
    prof_cxx_queue(x, it, CXX_CORE, core);
    prof_cxx_text(x, "(");
    prof_cxx_queue_list(x, &type, function->b);
    prof_cxx_text(x, ")");
    if (quals != 0)
        prof_cxx_queue(x, &type, CXX_QUALS, quals);
    if (local_quals != 0)
        prof_cxx_queue(x, &type, CXX_QUALS, local_quals);
    if (returned != 0)
        prof_cxx_queue(x, &type, CXX_POST_IF, returned)->aux = x->open;
    if (n->c != 0)
        prof_cxx_format(x, &type, " requires %a", n->c, 0);
    if (template->kind == CXX_TEMPLATE)
        prof_cxx_scope(x, it, 0, template->b, it->scope);
}

/* A name without its qualifiers, which are printed after the parameters. */
void prof_cxx_print_core(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);
    uint16_t quals, right;

    if (n->kind != CXX_LOCAL) {
        prof_cxx_whole(x, it, it->node);
        return;
    }
    prof_cxx_whole(x, it, n->a);
    prof_cxx_text(x, "::");
    right = n->b;
    if (cxx_at(x, right)->kind == CXX_DEFAULT_ARG) {
        prof_cxx_queue(x, it, CXX_PIECE, right);
        right = cxx_at(x, right)->a;
    }
    prof_cxx_whole(x, it, name_core(x, right, &quals));
}

/* <typename $T0, int $N1>, what GNU and LLVM call the parameters that have
 * no name in the mangled one. */
static void print_head(struct cxx *x, const struct cxx_item *it, uint16_t list)
{
    uint16_t index = 0;

    if (list == 0)
        return;
    prof_cxx_text(x, "<");
    for (; list != 0; list = cxx_at(x, list)->b) {
        if (index > 0)
            prof_cxx_text(x, ", ");
        prof_cxx_queue(x, it, CXX_PRE, cxx_at(x, list)->a)->aux = ++index;
    }
    prof_cxx_text(x, ">");
}

static void print_lambda(struct cxx *x, const struct cxx_item *it,
                         const struct cxx_node *n)
{
    struct cxx_item within = *it;

    within.flags |= CXX_IN_LAMBDA;
    within.scope = prof_cxx_scope_next(x);
    if (x->llvm) {
        demangle_put_string(x->out, "'lambda");
        if (n->c > 0)
            demangle_put_decimal(x->out, n->c - 1u);
        demangle_put_char(x->out, '\'');
    } else {
        demangle_put_string(x->out, "{lambda");
    }
    print_head(x, &within, n->b);
    prof_cxx_text(x, "(");
    prof_cxx_queue_list(x, &within, n->a);
    prof_cxx_text(x, ")");
    if (!x->llvm)
        prof_cxx_queue(x, it, CXX_PIECE, it->node);
    prof_cxx_scope(x, it, CXX_FOR_LAMBDA, it->node, it->scope);
}

/* "-in-" and " for " stand between two operands. */
static void print_special(struct cxx *x, const struct cxx_item *it,
                          const struct cxx_node *n)
{
    const struct cxx_special *special = &prof_cxx_specials[n->c];

    demangle_put_string(x->out, special->text);
    prof_cxx_format(x, it,
                    n->b == 0                          ? "%a"
                    : special->shape == CXX_THEN_TYPES ? "%a-in-%b"
                                                       : "%a for %b",
                    n->a, n->b);
}

/* A resource's name; $S, $_ and $$ are escapes of '/', '.' and '$'. */
static void print_resource(struct cxx *x, const struct cxx_node *n)
{
    const char *s = x->text + n->a;

    for (const char *end = s + n->b; s < end; s++) {
        char c = *s;

        if (c == '$' && s + 1 < end) {
            s++;
            c = *s == 'S' ? '/' : *s == '_' ? '.' : *s;
        }
        demangle_put_char(x->out, c);
    }
}

static void print_operator(struct cxx *x, const struct cxx_node *n)
{
    const char *text = prof_cxx_ops[n->a].text;
    size_t bytes = 0;

    demangle_put_string(x->out, "operator");
    if (text[0] >= 'a' && text[0] <= 'z')
        demangle_put_char(x->out, ' ');
    while (text[bytes] != 0)
        bytes++;
    if (text[bytes - 1] == ' ')
        bytes--;
    demangle_put_bytes(x->out, text, bytes);
}

/* The type of a conversion operator. The arguments of a template type are
 * outside the scope that the operator's own arguments make. */
static void print_conversion(struct cxx *x, const struct cxx_item *it,
                             const struct cxx_node *n)
{
    const struct cxx_node *type = cxx_at(x, n->a);
    struct cxx_item outer = *it;

    demangle_put_string(x->out, "operator ");
    if (type->kind != CXX_TEMPLATE || it->scope == 0 || x->llvm) {
        prof_cxx_whole(x, it, n->a);
        return;
    }
    outer.scope = cxx_scope_at(x, it->scope)->scope;
    prof_cxx_whole(x, it, type->a);
    prof_cxx_queue_open(x, it);
    prof_cxx_queue_list(x, &outer, type->b);
    prof_cxx_queue_close(x, it);
}

static void print_unnamed(struct cxx *x, const struct cxx_node *n)
{
    if (x->llvm) {
        demangle_put_string(x->out, "'unnamed");
        if (n->c > 0)
            demangle_put_decimal(x->out, n->c - 1u);
        demangle_put_char(x->out, '\'');
        return;
    }
    prof_cxx_numbered(x, "{unnamed type#", n->c + 1u, "}");
}

static const char *module_format(const struct cxx_node *n)
{
    return n->a == 0 ? "%b" : n->c ? "%a:%b" : "%a.%b";
}

void prof_cxx_print_name(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);

    switch (n->kind) {
    case CXX_NAME: /* all but a resource's is flat */
        print_resource(x, n);
        break;
    case CXX_MODULE:
        prof_cxx_format(x, it, module_format(n), n->a, n->b);
        break;
    case CXX_DEFAULT_ARG:
        prof_cxx_queue(x, it, CXX_PIECE, it->node);
        prof_cxx_whole(x, it, n->a);
        break;
    case CXX_TYPED:
        print_typed(x, it, n);
        break;
    case CXX_TEMPLATE:
        print_template(x, it, n);
        break;
    case CXX_LAMBDA:
        print_lambda(x, it, n);
        break;
    case CXX_UNNAMED:
        print_unnamed(x, n);
        break;
    case CXX_SPECIAL:
        print_special(x, it, n);
        break;
    case CXX_OPERATOR:
        print_operator(x, n);
        break;
    default:
        print_conversion(x, it, n);
    }
}
