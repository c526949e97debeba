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

static void print_template(struct cxx *x, const struct cxx_item *it,
                           const struct cxx_node *n)
{
    bool conversion = last_component(x, n->a)->kind == CXX_CONVERSION;
    uint32_t scope = cxx_scope_next(x);
    struct cxx_item *name = cxx_whole(x, it, n->a);

    if (conversion)
        name->scope = scope;
    cxx_queue_open(x, it);
    cxx_queue_list(x, it, n->b);
    cxx_queue_close(x, it);
    if (conversion)
        cxx_scope(x, it, 0, n->b, it->scope);
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
static void print_typed(struct cxx *x, const struct cxx_item *it,
                        const struct cxx_node *n)
{
    const struct cxx_node *function = cxx_at(x, n->b);
    struct cxx_item type = *it;
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
        type.scope = cxx_scope_next(x);
    if (returned != 0) {
        cxx_queue(x, &type, CXX_PRE, returned);
        cxx_queue(x, &type, CXX_FN_SPACE, 0)->aux = x->open;
    }
    cxx_queue(x, it, CXX_CORE, core);
    cxx_text(x, "(");
    cxx_queue_list(x, &type, function->b);
    cxx_text(x, ")");
    if (quals != 0)
        cxx_queue(x, &type, CXX_QUALS, quals);
    if (local_quals != 0)
        cxx_queue(x, &type, CXX_QUALS, local_quals);
    if (returned != 0)
        cxx_queue(x, &type, CXX_POST_IF, returned)->aux = x->open;
    if (n->c != 0)
        cxx_format(x, &type, " requires %a", n->c, 0);
    if (template->kind == CXX_TEMPLATE)
        cxx_scope(x, it, 0, template->b, it->scope);
}

/* A name without its qualifiers, which are printed after the parameters. */
void cxx_print_core(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);
    const struct cxx_node *right = cxx_at(x, n->b);
    struct cxx_item entity = *it;
    uint32_t quals, core = n->b;

    if (n->kind != CXX_LOCAL) {
        cxx_whole(x, it, it->node);
        return;
    }
    cxx_format(x, it, "%a::", n->a, 0);
    if (right->kind == CXX_DEFAULT_ARG) {
        entity.node = n->b;
        cxx_format(x, &entity, "{default arg#%#}::", 0, 0);
        core = right->a;
    }
    cxx_whole(x, it, name_core(x, core, &quals));
}

/* <typename $T0, int $N1>, what GNU and LLVM call the parameters that have
 * no name in the mangled one. */
static void print_head(struct cxx *x, const struct cxx_item *it, uint32_t list)
{
    uint32_t index = 0;

    if (list == 0)
        return;
    cxx_text(x, "<");
    for (; list != 0; list = cxx_at(x, list)->b) {
        if (index > 0)
            cxx_text(x, ", ");
        cxx_queue(x, it, CXX_PRE, cxx_at(x, list)->a)->aux = ++index;
    }
    cxx_text(x, ">");
}

static void print_lambda(struct cxx *x, const struct cxx_item *it,
                         const struct cxx_node *n)
{
    struct cxx_item within = *it;

    within.flags |= CXX_IN_LAMBDA;
    within.scope = cxx_scope_next(x);
    cxx_format(x, it, "%{{lambda%|'lambda%-'%}", 0, 0);
    print_head(x, &within, n->b);
    cxx_format(x, &within, "(%[a)%{#%+}%|%}", n->a, 0);
    cxx_scope(x, it, CXX_FOR_LAMBDA, it->node, it->scope);
}

/* "-in-" and " for " stand between two operands. */
static void print_special(struct cxx *x, const struct cxx_item *it,
                          const struct cxx_node *n)
{
    const struct cxx_special *special = &cxx_specials[n->c];

    demangle_put_string(x->out, special->text);
    cxx_format(x, it,
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
    const char *text = cxx_ops[n->a].text;
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
        cxx_whole(x, it, n->a);
        return;
    }
    outer.scope = cxx_scope_at(x, it->scope)->scope;
    cxx_whole(x, it, type->a);
    cxx_queue_open(x, it);
    cxx_queue_list(x, &outer, type->b);
    cxx_queue_close(x, it);
}

static const char *module_format(const struct cxx_node *n)
{
    return n->a == 0 ? "%b" : n->c ? "%a:%b" : "%a.%b";
}

void cxx_print_name(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);

    switch (n->kind) {
    case CXX_NAME: /* all but a resource's is flat */
        print_resource(x, n);
        break;
    case CXX_MODULE:
        cxx_format(x, it, module_format(n), n->a, n->b);
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
#define LIST 0xffu /* looser than everything */
#define ASSIGNMENT 17u

/* Precedence of the outermost operator of (n); larger binds more loosely. */
static unsigned looseness(const struct cxx_node *n)
{
    switch (n->kind) {
    case CXX_UNARY:
    case CXX_BINARY:
    case CXX_CONDITIONAL:
    case CXX_NULLARY:
    case CXX_NEW:
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
void cxx_print_sub(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);
    bool parens;

    if (x->llvm)
        parens = looseness(n) >= it->aux;
    else
        parens = n->kind != CXX_NAME && n->kind != CXX_WORD &&
                 n->kind != CXX_QUAL && n->kind != CXX_BRACES &&
                 n->kind != CXX_FPARAM;
    if (parens)
        demangle_put_char(x->out, '(');
    cxx_whole(x, it, it->node);
    if (parens)
        cxx_text(x, ")");
}

/* "(type)value"; a literal that C++ has a shorter form for is flat. */
static void print_literal(struct cxx *x, const struct cxx_item *it,
                          const struct cxx_node *n)
{
    const struct cxx_node *type = cxx_at(x, n->a);
    const char *format = n->c ? "(%a)-%b" : "(%a)%b";

    if (n->b == 0) /* a string literal: only its type is known */
        format = "\"<%a>\"";
    else if (type->kind == CXX_BUILTIN &&
             cxx_builtins[type->a].print == CXX_AS_FLOAT)
        format = n->c ? "(%a)-[%b]" : "(%a)[%b]";
    cxx_format(x, it, format, n->a, n->b);
}

/* Of the address of a function only its name is printed. */
static uint32_t address_of(const struct cxx *x, uint32_t node)
{
    const struct cxx_node *n = cxx_at(x, node);

    if (n->kind == CXX_TYPED && cxx_at(x, n->a)->kind == CXX_QUAL)
        return n->a;
    return node;
}

/* sizeof...(arguments): how many they are, packs expanded. */
static uint32_t arguments(struct cxx *x, const struct cxx_item *it,
                          uint32_t list)
{
    uint32_t n = 0;

    for (; list != 0 && cxx_at(x, list)->a != 0; list = cxx_at(x, list)->b) {
        uint32_t item = cxx_at(x, list)->a;

        if (!demangle_pay(x->out, 1))
            return n;
        if (cxx_at(x, item)->kind == CXX_EXPANSION)
            n += cxx_length(x, cxx_find_pack(x, it, cxx_at(x, item)->a));
        else
            n++;
    }
    return n;
}

/* The code of an operator as one number. */
#define CODE(first, second) ((uint16_t)((first) | (second) << 8))

static uint32_t code_of(const struct cxx_node *n)
{
    const char *code = cxx_ops[n->c].code;

    return CODE(code[0], code[1]);
}

/* sizeof, alignof and typeid, which LLVM writes like calls. */
static bool is_enclosing(uint32_t code)
{
    return code == CODE('s', 'z') || code == CODE('a', 't') ||
           code == CODE('a', 'z') || code == CODE('t', 'e') ||
           code == CODE('t', 'i');
}

static void print_unary(struct cxx *x, const struct cxx_item *it,
                        const struct cxx_node *n)
{
    uint32_t operand = n->a, code = code_of(n);
    const char *format = "%o%La";

    if (code == CODE('s', 'Z')) {
        demangle_put_decimal(x->out,
                             cxx_length(x, cxx_find_pack(x, it, operand)));
        return;
    }
    if (code == CODE('s', 'P')) {
        demangle_put_decimal(x->out, arguments(x, it, operand));
        return;
    }
    if (code == CODE('a', 'd') && !x->llvm)
        operand = address_of(x, operand);
    if (code == CODE('n', 'x'))
        format = "%o (%a)";
    else if (code == CODE('s', 't') || (x->llvm && is_enclosing(code)))
        format = "%o(%a)";
    else if (code == CODE('g', 's'))
        format = "%o%a";
    cxx_format(x, it, format, operand, 0);
}

static void print_binary(struct cxx *x, const struct cxx_item *it,
                         const struct cxx_node *n)
{
    const struct cxx_op *op = &cxx_ops[n->c];
    const char *format = "%Ma%O%Lb";
    uint32_t left = n->a;

    if (op->shape == CXX_OP_CAST) {
        format = "%o<%a>(%b)";
    } else if (op->shape == CXX_OP_CALL) {
        format = "%Na%0b";
        if (!x->llvm && cxx_at(x, left)->kind == CXX_TYPED)
            left = cxx_at(x, left)->a;
    } else if (op->shape == CXX_OP_MEMBER) {
        format = "%Ma%o%Lb";
    } else if (code_of(n) == CODE('i', 'x')) {
        format = "%La[%b]";
    } else if (code_of(n) == CODE('g', 't') && !x->llvm) {
        format = "(%Ma%O%Lb)"; /* or '>' would end the template arguments */
    } else if (op->loose == ASSIGNMENT) {
        format = "%?a%O%Bb";
    }
    cxx_format(x, it, format, left, n->b);
}

static void print_conditional(struct cxx *x, const struct cxx_item *it,
                              const struct cxx_node *n)
{
    const struct cxx_node *both = cxx_at(x, n->b);

    cxx_format(x, it, "%La%{?%| ? %}%Cb", n->a, both->a);
    cxx_format(x, it, " : %Ba", both->b, 0);
}

static void print_new(struct cxx *x, const struct cxx_item *it,
                      const struct cxx_node *n)
{
    const struct cxx_node *type = cxx_at(x, n->b);

    cxx_format(x, it,
               cxx_at(x, n->a)->a != 0 ? "%{new %|%o%}%0a %b"
                                       : "%{new %|%o %}%b",
               n->a, type->a);
    if (type->b != 0)
        cxx_format(x, it, "%1a", type->b, 0);
}

/* Packs are printed whole in a fold. */
static void print_fold(struct cxx *x, const struct cxx_item *it,
                       const struct cxx_node *n)
{
    static const char *const formats[] = {"(...%O%0a)", "(%0a%O...)",
                                          "(%4a%O...%O%0b)", "(%0a%O...%O%4b)"};
    struct cxx_item all = *it;

    all.pack = CXX_PACK_ALL;
    cxx_format(x, &all, formats[(n->c >> 8) - 1], n->a, n->b);
}

/* .a=b, [a]=b, [a ... b]=c */
static void print_designated(struct cxx *x, const struct cxx_item *it,
                             const struct cxx_node *n)
{
    uint8_t shape = cxx_ops[n->c].shape;
    const struct cxx_node *both = cxx_at(x, n->b);
    uint32_t value = shape == CXX_OP_RANGE ? both->b : n->b;

    cxx_format(x, it,
               shape == CXX_OP_FIELD   ? ".%a"
               : shape == CXX_OP_RANGE ? "[%a ... %b]"
                                       : "[%a]",
               n->a, both->a);
    cxx_format(x, it,
               cxx_at(x, value)->kind == CXX_DESIGNATED ? "%a"
                                                        : "%{=%| = %}%Ca",
               value, 0);
}

void cxx_print_expr(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);

    switch (n->kind) {
    case CXX_FPARAM:
        cxx_format(x, it, n->a ? "this" : "%{{parm#%+}%|fp%-%}", 0, 0);
        break;
    case CXX_LITERAL:
        print_literal(x, it, n);
        break;
    case CXX_UNARY:
        print_unary(x, it, n);
        break;
    case CXX_BINARY:
        print_binary(x, it, n);
        break;
    case CXX_CONDITIONAL:
        print_conditional(x, it, n);
        break;
    case CXX_NEW:
        print_new(x, it, n);
        break;
    case CXX_BRACES:
        cxx_format(x, it, n->a != 0 ? "%a{%[b}" : "{%[b}", n->a, n->b);
        break;
    case CXX_FOLD:
        print_fold(x, it, n);
        break;
    case CXX_DESIGNATED:
        print_designated(x, it, n);
        break;
    default:
        x->failed = true;
    }
}
static void print_requirements(struct cxx *x, const struct cxx_item *it,
                               const struct cxx_node *n)
{
    cxx_format(x, it, n->a != 0 ? "requires (%[a) {" : "requires {", n->a, 0);
    for (uint32_t at = n->b; at != 0; at = cxx_at(x, at)->b)
        cxx_format(x, it, " %a", cxx_at(x, at)->a, 0);
    cxx_text(x, " }");
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
    cxx_format(x, it, format, n->a, n->b);
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

/* it->aux = place of the parameter + 1; 0: it gets no name */
static void print_declaration(struct cxx *x, const struct cxx_item *it,
                              const struct cxx_node *n)
{
    bool pack = n->c == 'p';

    if (pack)
        n = cxx_at(x, n->a);
    cxx_format(x, it,
               n->c == 'y'   ? "typename"
               : n->c == 't' ? "template<%[a%{> class%|> typename%}"
                             : "%a",
               n->a, 0);
    if (x->llvm && (it->aux != 0 || pack))
        cxx_text(x, " ");
    if (pack)
        cxx_text(x, "...");
    if (!x->llvm && it->aux != 0)
        cxx_text(x, " ");
    if (it->aux != 0)
        cxx_queue(x, it, CXX_PIECE, it->node)->aux = it->aux;
}

void cxx_print_constraint(struct cxx *x, const struct cxx_item *it)
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
