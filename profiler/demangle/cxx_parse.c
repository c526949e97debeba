/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: the machine and the terminals of the grammar.
 *
 * Rules call each other through frames, so a deeply nested name uses workspace
 * and not the C stack. As an optimisation, the first step of frequent rules is
 * run at once as a C function (cxx_run): encoding -> nested name, parameters;
 * parameters, arguments -> literal -> type -> a type after its modifiers ->
 * nested name. None of these calls an earlier one, so the C stack is bounded.
 *
 * The parser backtracks in one place only: the arguments after a template
 * parameter in a conversion operator's type may belong to the operator (see
 * prof_cxx_tparam).
 */

#include "demangle/cxx_parse.h"

static cxx_rule_fn *const rules[CXX_R_FORMS + 1] = {
    [CXX_R_ENCODING] = prof_cxx_encoding,
    [CXX_R_SPECIAL] = prof_cxx_special,
    [CXX_R_RESOURCE] = prof_cxx_resource,
    [CXX_R_BARE] = prof_cxx_bare,
    [CXX_R_NAME] = prof_cxx_name,
    [CXX_R_NESTED] = prof_cxx_nested,
    [CXX_R_NESTED_TYPE] = prof_cxx_nested,
    [CXX_R_LOCAL] = prof_cxx_local,
    [CXX_R_UNQUALIFIED] = prof_cxx_unqualified,
    [CXX_R_OPERATOR] = prof_cxx_operator,
    [CXX_R_LAMBDA] = prof_cxx_lambda,
    [CXX_R_TYPE] = prof_cxx_type,
    [CXX_R_TYPE_D] = prof_cxx_type_d,
    [CXX_R_QUALIFIED] = prof_cxx_qualified,
    [CXX_R_TPARAM] = prof_cxx_tparam,
    [CXX_R_ARGS] = prof_cxx_args,
    [CXX_R_ARG] = prof_cxx_arg,
    [CXX_R_LITERAL] = prof_cxx_literal,
    [CXX_R_EXPR] = prof_cxx_expr,
    [CXX_R_SCOPED] = prof_cxx_scoped,
    [CXX_R_REQUIREMENT] = prof_cxx_requirement,
    [CXX_R_TPARAM_DECL] = prof_cxx_tparam_decl,
    [CXX_R_LIST] = prof_cxx_list_rule,
    [CXX_R_FORMS] = prof_cxx_form,
};

/* Whether the workspace is full: nodes and stack are about to meet. */
static bool crowded(const struct cxx *x)
{
    return cxx_at(x, x->node_count) + 4 > (const struct cxx_node *)x->frame;
}

static void push(struct cxx *x, uint8_t rule, uint16_t a)
{
    if (crowded(x) || !demangle_pay(x->out, 1)) {
        cxx_fail(x);
        return;
    }
    x->frame--;
    *x->frame = (struct cxx_frame){.rule = rule, .a = a};
}

/* Parses a type that needs no frame into x->ret: a builtin type of one letter
 * or a substitution. False, with nothing consumed: the type is another. */
static bool short_type(struct cxx *x)
{
    const char *s = x->s;
    uint16_t sub;

    if (cxx_is_builtin(*s)) {
        x->s++;
        x->ret = prof_cxx_word(x, CXX_BUILTIN, (uint16_t)(*s - 'a'), 0);
        return true;
    }
    if (*s != 'S' || (s[1] != '_' && !cxx_is_digit(s[1])))
        return false;
    sub = prof_cxx_substitution(x, false);
    if (*x->s == 'I' || cxx_at(x, sub)->kind == CXX_MODULE) {
        x->s = s;
        return false;
    }
    x->ret = sub;
    return true;
}

bool prof_cxx_read_type(struct cxx *x, uint8_t at)
{
    struct cxx_frame *caller = x->frame;

    caller->at = at;
    if (short_type(x))
        return !x->failed;
    if (*x->s == 'N') {
        push(x, CXX_R_NESTED_TYPE, 0);
        return cxx_run(x, caller, prof_cxx_nested);
    }
    push(x, CXX_R_TYPE, 0);
    return cxx_run(x, caller, prof_cxx_type);
}

void prof_cxx_call(struct cxx *x, uint8_t at, uint8_t rule, uint16_t a)
{
    x->frame->at = at;
    if (rule != CXX_R_TYPE || !short_type(x))
        push(x, rule, a);
}

void prof_cxx_become(struct cxx *x, uint8_t rule, uint16_t a)
{
    *x->frame = (struct cxx_frame){.rule = rule, .a = a};
}

void prof_cxx_give(struct cxx *x, uint16_t node)
{
    if (node == 0)
        cxx_fail(x);
    x->ret = node;
    x->frame++;
}

void prof_cxx_give_node(struct cxx *x, uint16_t kind, uint16_t a, uint16_t b,
                        uint16_t c)
{
    prof_cxx_give(x, prof_cxx_node(x, kind, a, b, c));
}

void prof_cxx_give_new(struct cxx *x, uint16_t node)
{
    cxx_remember(x, node);
    prof_cxx_give(x, node);
}

/* The interpreter: runs the rule on top of the stack until the stack is empty.
 * After a failure it resumes the rule that backtracks, if there is one. */
uint16_t prof_cxx_parse(struct cxx *x)
{
    unsigned rule;

    push(x, CXX_R_ENCODING, 0);
    while ((void *)x->frame != x->floor) {
        if (x->failed) {
            if (x->attempt == NULL)
                return 0;
            x->failed = false;
            x->ret = 0;
            x->frame = x->attempt;
        }
        rule = x->frame->rule;
        rules[rule < CXX_R_FORMS ? rule : CXX_R_FORMS](x, x->frame);
    }
    return x->failed ? 0 : x->ret;
}

uint16_t prof_cxx_node(struct cxx *x, uint16_t kind, uint16_t a, uint16_t b,
                       uint16_t c)
{
    struct cxx_node *n;

    if (crowded(x)) {
        cxx_fail(x);
        return 0;
    }
    n = cxx_at(x, x->node_count);
    n->kind_and_flags = kind;
    n->a = a;
    n->b = b;
    n->c = c;
    return x->node_count++;
}

uint16_t prof_cxx_word(struct cxx *x, uint8_t kind, uint16_t a, uint16_t b)
{
    return prof_cxx_node(x, CXX_IS(kind, CXX_FLAT_LEAF), a, b, 0);
}

uint16_t prof_cxx_pair(struct cxx *x, uint8_t kind, uint16_t a, uint16_t b)
{
    unsigned flat = cxx_at(x, a)->flags & cxx_at(x, b)->flags & CXX_FLAT;

    return prof_cxx_node(x, CXX_IS(kind, flat), a, b, 0);
}

void prof_cxx_append(struct cxx *x, uint16_t *head, uint16_t *tail,
                     uint16_t item)
{
    unsigned flat = cxx_at(x, item)->flags & CXX_FLAT;
    uint16_t list;

    if (*head != 0)
        flat &= cxx_at(x, *tail)->flags;
    list = prof_cxx_node(x, CXX_IS(CXX_LIST, flat), item, 0, 0);
    if (*head == 0)
        *head = list;
    else
        cxx_at(x, *tail)->b = list;
    *tail = list;
}

uint16_t prof_cxx_list(struct cxx *x, uint16_t head, uint16_t tail)
{
    if (head == 0)
        return prof_cxx_node(x, CXX_LIST, 0, 0, 0);
    cxx_at(x, head)->flags = cxx_at(x, tail)->flags;
    return head;
}

/* <number> without a sign. 0xffff is reserved. */
uint16_t prof_cxx_number(struct cxx *x)
{
    const char *s = x->s;
    uint32_t value = 0;

    while (cxx_is_digit(*s) && value < 0x10000)
        value = value * 10 + (uint32_t)(*s++ - '0');
    if (s == x->s || value > 0xfffe) {
        cxx_fail(x);
        return 0;
    }
    x->s = s;
    return (uint16_t)value;
}

/* [<number>] _, as in <template-param> and <discriminator>. */
uint16_t prof_cxx_compact(struct cxx *x)
{
    uint16_t value = 0;

    if (*x->s != '_')
        value = (uint16_t)(prof_cxx_number(x) + 1);
    cxx_want(x, '_');
    return value;
}

/* A name node for the (bytes) bytes at (from) of the mangled name. */
static uint16_t text_node(struct cxx *x, const char *from, uint32_t bytes)
{
    return prof_cxx_word(x, CXX_NAME, (uint16_t)(from - x->text),
                         (uint16_t)bytes);
}

void prof_cxx_skip_digits(struct cxx *x)
{
    while (cxx_is_digit(*x->s))
        x->s++;
}

uint16_t prof_cxx_digits(struct cxx *x)
{
    const char *from = x->s;

    prof_cxx_skip_digits(x);
    return text_node(x, from, (uint32_t)(x->s - from));
}

/* "_GLOBAL_", one of "._$", 'N': GCC's name of an anonymous namespace. */
static bool is_anonymous(const char *s, uint32_t bytes)
{
    return bytes >= 10 && __builtin_memcmp(s, "_GLOBAL_", 8) == 0 &&
           s[9] == 'N' && (s[8] == '.' || s[8] == '_' || s[8] == '$');
}

/* <source-name> ::= <positive length number> <identifier> */
uint16_t prof_cxx_source_name(struct cxx *x)
{
    const char *from = x->s;
    uint32_t bytes = (uint32_t)*from - '0';
    uint32_t second;

    if (bytes > 9) {
        cxx_fail(x);
        return 0;
    }
    /* One digit and two are equally likely, so this is branchless. */
    second = (uint32_t) * ++from - '0';
    bytes = second > 9 ? bytes : bytes * 10 + second;
    from += second <= 9;
    if (second <= 9 && cxx_is_digit(*from)) {
        bytes = prof_cxx_number(x);
        from = x->s;
    }
    if (bytes - 1 >= (uint32_t)(x->end - from)) {
        cxx_fail(x);
        return 0;
    }
    x->s = from + bytes;
    if (*from == '_' && is_anonymous(from, bytes))
        return prof_cxx_word(x, CXX_WORD, CXX_W_ANONYMOUS, 0);
    return text_node(x, from, bytes);
}

uint16_t prof_cxx_tags(struct cxx *x, uint16_t node)
{
    while (!x->failed && cxx_take(x, 'B'))
        node = prof_cxx_node(x, CXX_TAGGED, node, prof_cxx_source_name(x), 0);
    return node;
}

/* <template-param> ::= T_ | T <parameter-2 non-negative number> _ */
uint16_t prof_cxx_tparam_leaf(struct cxx *x)
{
    cxx_want(x, 'T');
    return prof_cxx_node(x, CXX_TPARAM, prof_cxx_compact(x), 0, 0);
}

/* <module-name> ::= <module-subname>+, <module-subname> ::= W <source-name>
 * | W P <source-name>, the latter being a partition. */
bool prof_cxx_module(struct cxx *x, uint16_t *module)
{
    while (!x->failed && cxx_take(x, 'W')) {
        uint16_t partition = cxx_take(x, 'P');
        uint16_t name = prof_cxx_source_name(x);

        *module = prof_cxx_node(x, CXX_MODULE, *module, name, partition);
        cxx_remember(x, *module);
    }
    return !x->failed;
}

/* <seq-id> _ or _, after "S": the index of a substitution, in base 36. */
static uint16_t sequence(struct cxx *x)
{
    uint32_t value = 0;

    if (cxx_take(x, '_'))
        return 0;
    for (; *x->s != '_'; x->s++) {
        if (cxx_is_digit(*x->s))
            value = value * 36 + (uint32_t)(*x->s - '0');
        else if (cxx_is_upper(*x->s))
            value = value * 36 + (uint32_t)(*x->s - 'A') + 10;
        else
            value = 0xffff;
        if (value >= CXX_SUBS_MAX) {
            cxx_fail(x);
            return 0;
        }
    }
    x->s++;
    return (uint16_t)(value + 1);
}

/* The abbreviations St, Sa, Ss, Sb, Si, So and Sd, with ABI tags. In a prefix
 * before a constructor or destructor GNU spells the template out. */
static uint16_t standard(struct cxx *x, bool prefix)
{
    uint16_t node;
    uint16_t i = 0;

    while (prof_cxx_std[i].code != *x->s)
        if (++i == CXX_STD_COUNT) {
            cxx_fail(x);
            return 0;
        }
    x->s++;
    node =
        prof_cxx_word(x, CXX_STD, i, prefix && (*x->s == 'C' || *x->s == 'D'));
    if (*x->s == 'B') {
        node = prof_cxx_tags(x, node);
        cxx_remember(x, node);
    }
    return node;
}

/* <substitution> ::= S <seq-id> _ | S_ | an abbreviation */
uint16_t prof_cxx_substitution(struct cxx *x, bool prefix)
{
    uint16_t index;

    cxx_want(x, 'S');
    if (cxx_is_lower(*x->s))
        return standard(x, prefix);
    index = sequence(x);
    if (x->failed || index >= x->sub_count) {
        cxx_fail(x);
        return 0;
    }
    return x->subs[index];
}
