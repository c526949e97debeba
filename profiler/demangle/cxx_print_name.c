/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: names, encodings, expressions and constraints.
 *
 * GNU puts every operand in parentheses unless it is a name, a parameter or a
 * list in braces, and no blanks around operators. LLVM looks at precedence and
 * prints blanks.
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

static void print_template(struct cxx *x, const struct cxx_node *n)
{
    bool conversion = last_component(x, n->a)->kind == CXX_CONVERSION;
    uint32_t scope = cxx_scope_next(x);
    struct cxx_item *name = cxx_whole(x, n->a);

    if (conversion)
        name->scope = scope;
    cxx_queue_arguments(x, n->b);
    if (conversion)
        cxx_scope(x, 0, n->b, x->it.scope);
}

/* The core of a function's name, and its qualifiers: (*quals). */
static uint32_t name_core(const struct cxx *x, uint32_t node, uint32_t *quals)
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
static void print_typed(struct cxx *x, const struct cxx_node *n)
{
    const struct cxx_node *function = cxx_at(x, n->b);
    uint32_t outer = x->it.scope, inner = outer;
    bool drop = ((n->flags & CXX_AROUND_LOCAL) && !x->llvm) || x->out->brief;
    uint32_t returned = drop ? 0 : function->a;
    uint32_t quals, local_quals = 0;
    uint32_t core = name_core(x, n->a, &quals);
    const struct cxx_node *template = cxx_at(x, core);

    if (template->kind == CXX_LOCAL) {
        template = cxx_at(x, template->b);
        if (template->kind == CXX_DEFAULT_ARG)
            template = cxx_at(x, template->a);
        if (cxx_is_fn_qual(template)) {
            local_quals = template - x->nodes;
            template = cxx_at(x, name_core(x, local_quals, &local_quals));
        }
    }
    if (template->kind == CXX_TEMPLATE)
        inner = cxx_scope_next(x);
    x->it.scope = (uint16_t)inner;
    if (returned != 0) {
        cxx_queue(x, CXX_PRE, returned);
        cxx_queue(x, CXX_FN_SPACE, 0)->aux = x->open;
    }
    x->it.scope = (uint16_t)outer;
    cxx_queue(x, CXX_CORE, core);
    x->it.scope = (uint16_t)inner;
    cxx_text(x, "(");
    cxx_queue_list(x, function->b);
    cxx_text(x, ")");
    if (quals != 0)
        cxx_queue(x, CXX_QUALS, quals);
    if (local_quals != 0)
        cxx_queue(x, CXX_QUALS, local_quals);
    if (returned != 0)
        cxx_queue(x, CXX_POST_IF, returned)->aux = x->open;
    if (n->c != 0)
        cxx_format(x, " requires %a", n->c, 0);
    x->it.scope = (uint16_t)outer;
    if (template->kind == CXX_TEMPLATE)
        cxx_scope(x, 0, template->b, x->it.scope);
}

/* A name without its qualifiers, which are printed after the parameters. */
void cxx_print_core(struct cxx *x)
{
    const struct cxx_node *n = cxx_at(x, x->it.node);
    const struct cxx_node *right = cxx_at(x, n->b);
    uint32_t quals, core = n->b;

    if (n->kind != CXX_LOCAL) {
        cxx_whole(x, x->it.node);
        return;
    }
    cxx_format(x, "%a::", n->a, 0);
    if (right->kind == CXX_DEFAULT_ARG) {
        x->it.node = n->b;
        cxx_format(x, "{default arg#%#}::", 0, 0);
        core = right->a;
    }
    cxx_whole(x, name_core(x, core, &quals));
}

/* <typename $T0, int $N1>, what GNU and LLVM call the parameters that have
 * no name in the mangled one. */
static void print_head(struct cxx *x, uint32_t list)
{
    uint32_t index = 0;

    if (list == 0)
        return;
    cxx_text(x, "<");
    for (; list != 0; list = cxx_at(x, list)->b) {
        if (index > 0)
            cxx_text(x, ", ");
        cxx_queue(x, CXX_PRE, cxx_at(x, list)->a)->aux = ++index;
    }
    cxx_text(x, ">");
}

static void print_lambda(struct cxx *x, const struct cxx_node *n)
{
    uint32_t outer = x->it.scope;

    x->it.flags |= CXX_IN_LAMBDA;
    x->it.scope = (uint16_t)cxx_scope_next(x);
    cxx_format(x, "%{{lambda%|'lambda%-'%}", 0, 0);
    print_head(x, n->b);
    cxx_format(x, "(%[a)%{#%+}%|%}", n->a, 0);
    x->it.scope = (uint16_t)outer;
    cxx_scope(x, CXX_FOR_LAMBDA, x->it.node, outer);
}

/* A Java resource's name, the only one that is not flat; $S, $_ and $$ are
 * escapes of '/', '.' and '$'. */
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
    const char *text = cxx_ops[n->a].text;
    size_t bytes = demangle_length(text);

    cxx_text(x, text[0] >= 'a' && text[0] <= 'z' ? "operator " : "operator");
    demangle_put_bytes(x->out, text, bytes - (text[bytes - 1] == ' '));
}

/* The type of a conversion operator. The arguments of a template type are
 * outside the scope that the operator's own arguments make. */
static void print_conversion(struct cxx *x, const struct cxx_node *n)
{
    const struct cxx_node *type = cxx_at(x, n->a);

    demangle_put_string(x->out, "operator ");
    if (type->kind != CXX_TEMPLATE || x->it.scope == 0 || x->llvm) {
        cxx_whole(x, n->a);
        return;
    }
    cxx_whole(x, type->a);
    x->it.scope = cxx_scope_at(x, x->it.scope)->scope;
    cxx_queue_arguments(x, type->b);
}

#define LIST 0xffu /* looser than everything */

/* Precedence of the outermost operator of (n); larger binds more loosely. */
static unsigned looseness(const struct cxx_node *n)
{
    switch (n->kind) {
    case CXX_OPERATION:
    case CXX_NULLARY:
        return cxx_ops[n->c].loose;
    case CXX_POSTFIX:
        return 1;
    case CXX_CAST:
        return 3;
    case CXX_LIST:
        return LIST;
    default:
        return 0;
    }
}

/* aux = limit: what binds as loosely or more gets parentheses from LLVM. */
void cxx_print_sub(struct cxx *x)
{
    const struct cxx_node *n = cxx_at(x, x->it.node);
    bool parens;

    if (x->llvm)
        parens = looseness(n) >= x->it.aux;
    else
        parens = n->kind != CXX_NAME && n->kind != CXX_WORD &&
                 n->kind != CXX_QUAL && n->kind != CXX_BRACES &&
                 n->kind != CXX_FPARAM;
    if (parens)
        demangle_put_char(x->out, '(');
    cxx_whole(x, x->it.node);
    if (parens)
        cxx_text(x, ")");
}

/* "(type)value"; a literal that C++ has a shorter form for is flat. */
static void print_literal(struct cxx *x, const struct cxx_node *n)
{
    const struct cxx_node *type = cxx_at(x, n->a);
    const char *format = "(%a)%(=\1-%}%b";

    if (n->b == 0) /* a string literal: only its type is known */
        format = "\"<%a>\"";
    else if (type->kind == CXX_BUILTIN &&
             cxx_builtins[type->a].print == CXX_AS_FLOAT)
        format = "(%a)%(=\1-%}[%b]";
    cxx_format(x, format, n->a, n->b);
}

/* How many elements (node) has for sizeof...: arguments, packs among them
 * expanded, or one pack. */
uint32_t cxx_elements(struct cxx *x, uint32_t node)
{
    uint32_t n = 0;

    if (cxx_at(x, node)->kind != CXX_LIST)
        return cxx_length(x, cxx_find_pack(x, node));
    for (; node != 0 && cxx_at(x, node)->a != 0; node = cxx_at(x, node)->b) {
        const struct cxx_node *item = cxx_at(x, cxx_at(x, node)->a);

        if (!demangle_pay(x->out, 1))
            return n;
        n += item->kind == CXX_EXPANSION
                 ? cxx_length(x, cxx_find_pack(x, item->a))
                 : 1;
    }
    return n;
}

/* The operands of an operator, by its shape. */
static const char *const operations[CXX_SHAPES] = {
    [CXX_OP_UNARY] = "%o%La",
    [CXX_OP_ADDRESS] = "%o%&a",
    [CXX_OP_GLOBAL] = "%o%a",
    [CXX_OP_NOEXCEPT] = "%o (%a)",
    [CXX_OP_OF_EXPR] = "%{%o%La%|%o(%a)%}",
    [CXX_OP_OF_TYPE] = "%{%o%La%|%o(%a)%}",
    [CXX_OP_SIZEOF_TYPE] = "%o(%a)",
    [CXX_OP_SIZEOF_PACK] = "%$a",
    [CXX_OP_SIZEOF_ARGS] = "%$a",
    [CXX_OP_STEP] = "%o%La",
    [CXX_OP_BINARY] = "%Ma%O%Lb",
    [CXX_OP_ASSIGN] = "%?a%O%Bb",
    /* or '>' would end the template arguments */
    [CXX_OP_GREATER] = "%{(%|%}%Ma%O%Lb%{)%|%}",
    [CXX_OP_INDEX] = "%La[%b]",
    [CXX_OP_CALL] = "%Na%0b",
    [CXX_OP_MEMBER] = "%Ma%o%Lb",
    [CXX_OP_CAST] = "%o<%a>(%b)",
    [CXX_OP_CONDITIONAL] = "%La%{?%| ? %}%Cc : %Bd",
    [CXX_OP_NEW] = "%{new%(a %0a%}%|%o%(a%0a%}%} %c%(d%1d%}",
    [CXX_OP_FIELD] = ".%a%=b",
    [CXX_OP_AT] = "[%a]%=b",
    [CXX_OP_RANGE] = "[%a ... %c]%=d",
};

/* Packs are printed whole in a fold. */
static void print_fold(struct cxx *x, const struct cxx_node *n)
{
    static const char *const formats[] = {"(...%O%0a)", "(%0a%O...)",
                                          "(%4a%O...%O%0b)", "(%0a%O...%O%4b)"};

    x->it.pack = CXX_PACK_ALL;
    cxx_format(x, formats[(n->c >> 8) - 1], n->a, n->b);
}

static void print_requirement(struct cxx *x, const struct cxx_node *n)
{
    cxx_format(x,
               n->c == 'N' ? " {%a} noexcept%(b -> %b%};"
               : n->b != 0 ? " {%a} -> %b;"
                           : " %(=Ttypename %}%(=Qrequires %}%a;",
               n->a, n->b);
}

/* GNU numbers the parameters by their place, LLVM by their kind. */
void cxx_print_invented(struct cxx *x, uint32_t declaration, uint32_t index)
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

/* x->it.aux = place of the parameter + 1; 0: it gets no name */
static void print_declaration(struct cxx *x, const struct cxx_node *n)
{
    bool pack = n->c == 'p';

    if (pack) {
        x->it.node = n->a;
        n = cxx_at(x, n->a);
    }
    cxx_format(x,
               "%(=ytypename%|%(=ttemplate<%[a%{> class%|> typename%}%|%a%}%}",
               n->a, 0);
    if (x->llvm && (x->it.aux != 0 || pack))
        cxx_text(x, " ");
    if (pack)
        cxx_text(x, "...");
    if (!x->llvm && x->it.aux != 0)
        cxx_text(x, " ");
    if (x->it.aux != 0)
        cxx_queue(x, CXX_PIECE, x->it.node)->aux = x->it.aux;
}

void cxx_print_name(struct cxx *x)
{
    const struct cxx_node *n = cxx_at(x, x->it.node);

    switch (n->kind) {
    case CXX_NAME:
        print_resource(x, n);
        break;
    case CXX_TYPED:
        print_typed(x, n);
        break;
    case CXX_TEMPLATE:
        print_template(x, n);
        break;
    case CXX_LAMBDA:
        print_lambda(x, n);
        break;
    case CXX_SPECIAL:
        cxx_format(x, cxx_specials[n->c].format, n->a, n->b);
        break;
    case CXX_OPERATOR:
        print_operator(x, n);
        break;
    case CXX_CONVERSION:
        print_conversion(x, n);
        break;
    case CXX_LITERAL:
        print_literal(x, n);
        break;
    case CXX_OPERATION:
    case CXX_DESIGNATED:
        cxx_format(x, operations[cxx_ops[n->c].shape], n->a, n->b);
        break;
    case CXX_FOLD:
        print_fold(x, n);
        break;
    case CXX_REQUIREMENT:
        print_requirement(x, n);
        break;
    case CXX_TPARAM_DECL:
        print_declaration(x, n);
        break;
    default:
        x->failed = true;
    }
}
