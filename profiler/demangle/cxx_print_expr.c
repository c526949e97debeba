/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: expressions and constraints.
 *
 * GNU puts every operand in parentheses unless it is a name, a parameter or a
 * list in braces, and no blanks around operators. LLVM looks at precedence and
 * prints blanks.
 */

#include "demangle/cxx_print.h"

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
        return prof_cxx_ops[n->c].loose;
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
void prof_cxx_print_sub(struct cxx *x, const struct cxx_item *it)
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
    prof_cxx_whole(x, it, it->node);
    if (parens)
        prof_cxx_text(x, ")");
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
             prof_cxx_builtins[type->a].print == CXX_AS_FLOAT)
        format = n->c ? "(%a)-[%b]" : "(%a)[%b]";
    prof_cxx_format(x, it, format, n->a, n->b);
}

/* Of the address of a function only its name is printed. */
static uint16_t address_of(const struct cxx *x, uint16_t node)
{
    const struct cxx_node *n = cxx_at(x, node);

    if (n->kind == CXX_TYPED && cxx_at(x, n->a)->kind == CXX_QUAL)
        return n->a;
    return node;
}

/* sizeof...(arguments): how many they are, packs expanded. */
static uint32_t arguments(struct cxx *x, const struct cxx_item *it,
                          uint16_t list)
{
    uint32_t n = 0;

    for (; list != 0 && cxx_at(x, list)->a != 0; list = cxx_at(x, list)->b) {
        uint16_t item = cxx_at(x, list)->a;

        if (!demangle_pay(x->out, 1))
            return n;
        if (cxx_at(x, item)->kind == CXX_EXPANSION)
            n += prof_cxx_length(x,
                                 prof_cxx_find_pack(x, it, cxx_at(x, item)->a));
        else
            n++;
    }
    return n;
}

/* The code of an operator as one number. */
#define CODE(first, second) ((uint16_t)((first) | (second) << 8))

static uint16_t code_of(const struct cxx_node *n)
{
    const char *code = prof_cxx_ops[n->c].code;

    return CODE(code[0], code[1]);
}

/* sizeof, alignof and typeid, which LLVM writes like calls. */
static bool is_enclosing(uint16_t code)
{
    return code == CODE('s', 'z') || code == CODE('a', 't') ||
           code == CODE('a', 'z') || code == CODE('t', 'e') ||
           code == CODE('t', 'i');
}

static void print_unary(struct cxx *x, const struct cxx_item *it,
                        const struct cxx_node *n)
{
    uint16_t operand = n->a, code = code_of(n);
    const char *format = "%o%La";

    if (code == CODE('s', 'Z')) {
        demangle_put_decimal(
            x->out, prof_cxx_length(x, prof_cxx_find_pack(x, it, operand)));
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
    prof_cxx_format(x, it, format, operand, 0);
}

static void print_binary(struct cxx *x, const struct cxx_item *it,
                         const struct cxx_node *n)
{
    const struct cxx_op *op = &prof_cxx_ops[n->c];
    const char *format = "%Ma%O%Lb";
    uint16_t left = n->a;

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
    prof_cxx_format(x, it, format, left, n->b);
}

static void print_conditional(struct cxx *x, const struct cxx_item *it,
                              const struct cxx_node *n)
{
    const struct cxx_node *both = cxx_at(x, n->b);

    prof_cxx_format(x, it, "%La%{?%| ? %}%Cb", n->a, both->a);
    prof_cxx_format(x, it, " : %Ba", both->b, 0);
}

static void print_new(struct cxx *x, const struct cxx_item *it,
                      const struct cxx_node *n)
{
    const struct cxx_node *type = cxx_at(x, n->b);

    prof_cxx_format(x, it,
                    cxx_at(x, n->a)->a != 0 ? "%{new %|%o%}%0a %b"
                                            : "%{new %|%o %}%b",
                    n->a, type->a);
    if (type->b != 0)
        prof_cxx_format(x, it, "%1a", type->b, 0);
}

/* Packs are printed whole in a fold. */
static void print_fold(struct cxx *x, const struct cxx_item *it,
                       const struct cxx_node *n)
{
    static const char *const formats[] = {"(...%O%0a)", "(%0a%O...)",
                                          "(%4a%O...%O%0b)", "(%0a%O...%O%4b)"};
    struct cxx_item all = *it;

    all.pack = CXX_PACK_ALL;
    prof_cxx_format(x, &all, formats[(n->c >> 8) - 1], n->a, n->b);
}

/* .a=b, [a]=b, [a ... b]=c */
static void print_designated(struct cxx *x, const struct cxx_item *it,
                             const struct cxx_node *n)
{
    uint8_t shape = prof_cxx_ops[n->c].shape;
    const struct cxx_node *both = cxx_at(x, n->b);
    uint16_t value = shape == CXX_OP_RANGE ? both->b : n->b;

    prof_cxx_format(x, it,
                    shape == CXX_OP_FIELD   ? ".%a"
                    : shape == CXX_OP_RANGE ? "[%a ... %b]"
                                            : "[%a]",
                    n->a, both->a);
    prof_cxx_format(x, it,
                    cxx_at(x, value)->kind == CXX_DESIGNATED ? "%a"
                                                             : "%{=%| = %}%Ca",
                    value, 0);
}

static void print_function_parameter(struct cxx *x, const struct cxx_node *n)
{
    if (n->a == 0) {
        demangle_put_string(x->out, "this");
    } else if (x->llvm) {
        demangle_put_string(x->out, "fp");
        if (n->a > 1)
            demangle_put_decimal(x->out, n->a - 2u);
    } else {
        prof_cxx_numbered(x, "{parm#", n->a, "}");
    }
}

void prof_cxx_print_expr(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);

    switch (n->kind) {
    case CXX_FPARAM:
        print_function_parameter(x, n);
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
        prof_cxx_format(x, it, n->a != 0 ? "%a{%[b}" : "{%[b}", n->a, n->b);
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
