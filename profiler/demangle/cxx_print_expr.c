/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: expressions and constraints.
 *
 * GNU puts every operand in parentheses unless it is a name, a parameter or a
 * list in braces, and no blanks around operators. LLVM looks at precedence and
 * prints blanks.
 */

#include "demangle/cxx_print.h"

#define NEVER 0xffu /* limit: no parentheses in LLVM's dialect */
#define ALWAYS 0u
#define DEFAULT 19u
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
        return NEVER;
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

static void sub(struct cxx *x, const struct cxx_item *it, uint16_t node,
                unsigned limit)
{
    prof_cxx_queue(x, it, CXX_SUB, node)->aux = (uint16_t)limit;
}

/* "(type)value", or shorter where the type is one of those that C++ has
 * literals for. */
static void print_literal(struct cxx *x, const struct cxx_item *it,
                          const struct cxx_node *n)
{
    const struct cxx_node *type = cxx_at(x, n->a);
    const struct cxx_builtin *builtin = NULL;

    if (type->kind == CXX_BUILTIN)
        builtin = &prof_cxx_builtins[type->a];
    if (n->b == 0) { /* a string literal: only its type is known */
        demangle_put_string(x->out, "\"<");
        prof_cxx_whole(x, it, n->a);
        prof_cxx_text(x, ">\"");
        return;
    }
    demangle_put_char(x->out, '(');
    prof_cxx_whole(x, it, n->a);
    prof_cxx_text(x, ")");
    if (n->c)
        prof_cxx_text(x, "-");
    if (builtin != NULL && builtin->print == CXX_AS_FLOAT) {
        prof_cxx_text(x, "[");
        prof_cxx_whole(x, it, n->b);
        prof_cxx_text(x, "]");
    } else {
        prof_cxx_whole(x, it, n->b);
    }
}

/* An operator between or behind its operands: at most four bytes. */
static void queue_op(struct cxx *x, uint16_t op, bool blanks)
{
    blanks = blanks && x->llvm && prof_cxx_ops[op].loose > 4;
    if (blanks && prof_cxx_ops[op].text[0] != ',')
        prof_cxx_text(x, " ");
    prof_cxx_text(x, prof_cxx_ops[op].text);
    if (blanks)
        prof_cxx_text(x, " ");
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
    bool parens = code == CODE('s', 't') || code == CODE('n', 'x');

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
    demangle_put_string(x->out, prof_cxx_ops[n->c].text);
    parens = parens || (x->llvm && is_enclosing(code));
    if (parens)
        prof_cxx_text(x, code == CODE('n', 'x') ? " (" : "(");
    if (parens || code == CODE('g', 's'))
        prof_cxx_whole(x, it, operand);
    else
        sub(x, it, operand, prof_cxx_ops[n->c].loose);
    if (parens)
        prof_cxx_text(x, ")");
}

static void print_binary(struct cxx *x, const struct cxx_item *it,
                         const struct cxx_node *n)
{
    const struct cxx_op *op = &prof_cxx_ops[n->c];
    bool greater = code_of(n) == CODE('g', 't');
    uint16_t left = n->a;

    if (op->shape == CXX_OP_CAST) {
        demangle_put_string(x->out, op->text);
        demangle_put_char(x->out, '<');
        prof_cxx_whole(x, it, n->a);
        prof_cxx_text(x, ">(");
        prof_cxx_whole(x, it, n->b);
        prof_cxx_text(x, ")");
        return;
    }
    greater = greater && !x->llvm;
    if (greater) /* or '>' would end the template arguments */
        demangle_put_char(x->out, '(');
    if (op->shape == CXX_OP_CALL && !x->llvm &&
        cxx_at(x, left)->kind == CXX_TYPED)
        left = cxx_at(x, left)->a;
    if (code_of(n) == CODE('i', 'x')) {
        sub(x, it, left, op->loose);
        prof_cxx_text(x, "[");
        prof_cxx_whole(x, it, n->b);
        prof_cxx_text(x, "]");
    } else if (op->shape == CXX_OP_CALL) {
        sub(x, it, left, NEVER);
        sub(x, it, n->b, ALWAYS);
    } else {
        bool member = op->shape == CXX_OP_MEMBER;
        bool assigns = op->loose == ASSIGNMENT;

        sub(x, it, left, assigns ? ASSIGNMENT - 2u : op->loose + 1u);
        queue_op(x, n->c, !member);
        sub(x, it, n->b, op->loose + (assigns ? 1u : 0u));
    }
    if (greater)
        prof_cxx_text(x, ")");
}

static void print_conditional(struct cxx *x, const struct cxx_item *it,
                              const struct cxx_node *n)
{
    const struct cxx_node *both = cxx_at(x, n->b);

    sub(x, it, n->a, prof_cxx_ops[n->c].loose);
    prof_cxx_text(x, x->llvm ? " ? " : "?");
    sub(x, it, both->a, DEFAULT);
    prof_cxx_text(x, " : ");
    sub(x, it, both->b, ASSIGNMENT + 1);
}

static void print_new(struct cxx *x, const struct cxx_item *it,
                      const struct cxx_node *n)
{
    const struct cxx_node *type = cxx_at(x, n->b);

    demangle_put_string(x->out, x->llvm ? prof_cxx_ops[n->c].text : "new ");
    if (cxx_at(x, n->a)->a != 0)
        sub(x, it, n->a, ALWAYS);
    if (x->llvm || cxx_at(x, n->a)->a != 0)
        prof_cxx_text(x, " ");
    prof_cxx_whole(x, it, type->a);
    if (type->b != 0)
        sub(x, it, type->b, 1);
}

/* Packs are printed whole in a fold. */
static void print_fold(struct cxx *x, const struct cxx_item *it,
                       const struct cxx_node *n)
{
    struct cxx_item all = *it;
    unsigned form = n->c & CXX_FOLD_FORM;
    uint16_t op = n->c & 0xff;

    all.pack = CXX_PACK_ALL;
    demangle_put_char(x->out, '(');
    if (form != CXX_FOLD_LEFT) {
        sub(x, &all, n->a, form == CXX_FOLD_LEFT_INIT ? 4 : ALWAYS);
        queue_op(x, op, true);
    }
    prof_cxx_text(x, "...");
    if (form != CXX_FOLD_RIGHT) {
        queue_op(x, op, true);
        sub(x, &all, form == CXX_FOLD_LEFT ? n->a : n->b,
            form == CXX_FOLD_RIGHT_INIT ? 4 : ALWAYS);
    }
    prof_cxx_text(x, ")");
}

/* .a=b, [a]=b, [a ... b]=c */
static void print_designated(struct cxx *x, const struct cxx_item *it,
                             const struct cxx_node *n)
{
    char form = prof_cxx_ops[n->c].code[1];
    uint16_t value = n->b;

    demangle_put_char(x->out, form == 'i' ? '.' : '[');
    prof_cxx_whole(x, it, n->a);
    if (form == 'X') {
        prof_cxx_text(x, " ... ");
        prof_cxx_whole(x, it, cxx_at(x, n->b)->a);
        value = cxx_at(x, n->b)->b;
    }
    if (form != 'i')
        prof_cxx_text(x, "]");
    if (cxx_at(x, value)->kind != CXX_DESIGNATED)
        prof_cxx_text(x, x->llvm ? " = " : "=");
    if (cxx_at(x, value)->kind == CXX_DESIGNATED)
        prof_cxx_whole(x, it, value);
    else
        sub(x, it, value, DEFAULT);
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
        demangle_put_string(x->out, "{parm#");
        demangle_put_decimal(x->out, n->a);
        demangle_put_char(x->out, '}');
    }
}

static void call_like(struct cxx *x, const struct cxx_item *it, uint16_t name,
                      const char *open, uint16_t list, const char *close)
{
    if (name != 0)
        prof_cxx_whole(x, it, name);
    prof_cxx_text(x, open);
    prof_cxx_queue_list(x, it, list);
    prof_cxx_text(x, close);
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
    case CXX_POSTFIX:
        sub(x, it, n->a, 2);
        queue_op(x, n->c, false);
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
    case CXX_CAST:
        prof_cxx_text(x, "(");
        prof_cxx_whole(x, it, n->a);
        prof_cxx_text(x, ")");
        sub(x, it, n->b, ALWAYS);
        break;
    case CXX_BRACES:
        call_like(x, it, n->a, "{", n->b, "}");
        break;
    case CXX_FOLD:
        print_fold(x, it, n);
        break;
    case CXX_NULLARY:
        demangle_put_string(x->out, prof_cxx_ops[n->c].text);
        break;
    case CXX_VENDOR_EXPR:
        call_like(x, it, n->a, "(", n->b, ")");
        break;
    case CXX_DESIGNATED:
        print_designated(x, it, n);
        break;
    default:
        x->failed = true;
    }
}
