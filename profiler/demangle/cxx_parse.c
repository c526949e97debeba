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
 * cxx_tparam).
 */

#include "demangle/cxx_parse.h"

/* Whether the workspace is full: nodes and stack are about to meet. */
static bool crowded(const struct cxx *x)
{
    return cxx_at(x, x->node_count) + 4 > (const struct cxx_node *)x->frame;
}

static void push(struct cxx *x, uint8_t rule, uint32_t a)
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
    uint32_t sub;

    if (cxx_is_builtin(*s)) {
        x->s++;
        x->ret = cxx_word(x, CXX_BUILTIN, *s - 'a', 0);
        return true;
    }
    if (*s != 'S' || (s[1] != '_' && !cxx_is_digit(s[1])))
        return false;
    sub = cxx_substitution(x, false);
    if (*x->s == 'I' || cxx_at(x, sub)->kind == CXX_MODULE) {
        x->s = s;
        return false;
    }
    x->ret = sub;
    return true;
}

bool cxx_read_type(struct cxx *x, uint8_t at)
{
    struct cxx_frame *caller = x->frame;

    caller->at = at;
    if (short_type(x))
        return !x->failed;
    if (*x->s == 'N') {
        push(x, CXX_R_NESTED_TYPE, 0);
        return cxx_run(x, caller, cxx_nested);
    }
    push(x, CXX_R_TYPE, 0);
    return cxx_run(x, caller, cxx_type);
}

void cxx_call(struct cxx *x, uint8_t at, uint8_t rule, uint32_t a)
{
    x->frame->at = at;
    if (rule != CXX_R_TYPE || !short_type(x))
        push(x, rule, a);
}

void cxx_remember(struct cxx *x, uint32_t node)
{
    if (x->sub_count == CXX_SUBS_MAX || node == 0)
        cxx_fail(x);
    else
        x->subs[x->sub_count++] = node;
}

void cxx_want(struct cxx *x, char c)
{
    if (!cxx_take(x, c))
        cxx_fail(x);
}

void cxx_become(struct cxx *x, uint8_t rule, uint32_t a)
{
    *x->frame = (struct cxx_frame){.rule = rule, .a = a};
}

void cxx_give(struct cxx *x, uint32_t node)
{
    if (node == 0)
        cxx_fail(x);
    x->ret = node;
    x->frame++;
}

void cxx_give_node(struct cxx *x, uint32_t kind, uint32_t a, uint32_t b,
                   uint32_t c)
{
    cxx_give(x, cxx_node(x, kind, a, b, c));
}

void cxx_give_new(struct cxx *x, uint32_t node)
{
    cxx_remember(x, node);
    cxx_give(x, node);
}

uint32_t cxx_node(struct cxx *x, uint32_t kind, uint32_t a, uint32_t b,
                  uint32_t c)
{
    struct cxx_node *n;

    if (crowded(x))
        return cxx_fail(x);
    n = cxx_at(x, x->node_count);
    n->kind_and_flags = kind;
    n->a = a;
    n->b = b;
    n->c = c;
    return x->node_count++;
}

uint32_t cxx_word(struct cxx *x, uint8_t kind, uint32_t a, uint32_t b)
{
    return cxx_node(x, CXX_IS(kind, CXX_FLAT_LEAF), a, b, 0);
}

uint32_t cxx_pair(struct cxx *x, uint8_t kind, uint32_t a, uint32_t b)
{
    unsigned flat = cxx_at(x, a)->flags & cxx_at(x, b)->flags & CXX_FLAT;

    return cxx_node(x, CXX_IS(kind, flat), a, b, 0);
}

void cxx_append(struct cxx *x, uint16_t *head, uint16_t *tail, uint32_t item)
{
    unsigned flat = cxx_at(x, item)->flags & CXX_FLAT;
    uint32_t list;

    if (*head != 0)
        flat &= cxx_at(x, *tail)->flags;
    list = cxx_node(x, CXX_IS(CXX_LIST, flat), item, 0, 0);
    if (*head == 0)
        *head = list;
    else
        cxx_at(x, *tail)->b = list;
    *tail = list;
}

uint32_t cxx_list(struct cxx *x, uint32_t head, uint32_t tail)
{
    if (head == 0)
        return cxx_node(x, CXX_LIST, 0, 0, 0);
    cxx_at(x, head)->flags = cxx_at(x, tail)->flags;
    return head;
}

/* <number> without a sign. 0xffff is reserved. */
uint32_t cxx_number(struct cxx *x)
{
    const char *s = x->s;
    uint32_t value = 0;

    while (cxx_is_digit(*s) && value < 0x10000)
        value = value * 10 + (uint32_t)(*s++ - '0');
    if (s == x->s || value > 0xfffe)
        return cxx_fail(x);
    x->s = s;
    return value;
}

/* [<number>] _, as in <template-param> and <discriminator>. */
uint32_t cxx_compact(struct cxx *x)
{
    uint32_t value = 0;

    if (*x->s != '_')
        value = cxx_number(x) + 1;
    cxx_want(x, '_');
    return value;
}

/* A name node for the (bytes) bytes at (from) of the mangled name. */
static uint32_t text_node(struct cxx *x, const char *from, uint32_t bytes)
{
    return cxx_word(x, CXX_NAME, from - x->text, bytes);
}

void cxx_skip_digits(struct cxx *x)
{
    while (cxx_is_digit(*x->s))
        x->s++;
}

uint32_t cxx_digits(struct cxx *x)
{
    const char *from = x->s;

    cxx_skip_digits(x);
    return text_node(x, from, (uint32_t)(x->s - from));
}

char cxx_global(const char *s, size_t bytes)
{
    return bytes >= 10 && __builtin_memcmp(s, "_GLOBAL_", 8) == 0 &&
                   (s[8] == '.' || s[8] == '_' || s[8] == '$')
               ? s[9]
               : 0;
}

/* <source-name> ::= <positive length number> <identifier> */
uint32_t cxx_source_name(struct cxx *x)
{
    const char *from = x->s;
    uint32_t bytes = (uint32_t)*from - '0';
    uint32_t second;

    if (bytes > 9)
        return cxx_fail(x);
    /* One digit and two are equally likely, so this is branchless. */
    second = (uint32_t) * ++from - '0';
    bytes = second > 9 ? bytes : bytes * 10 + second;
    from += second <= 9;
    if (second <= 9 && cxx_is_digit(*from)) {
        bytes = cxx_number(x);
        from = x->s;
    }
    if (bytes - 1 >= (uint32_t)(x->end - from))
        return cxx_fail(x);
    x->s = from + bytes;
    if (*from == '_' && cxx_global(from, bytes) == 'N')
        return cxx_word(x, CXX_WORD, CXX_W_ANONYMOUS, 0);
    return text_node(x, from, bytes);
}

uint32_t cxx_tags(struct cxx *x, uint32_t node)
{
    while (!x->failed && cxx_take(x, 'B'))
        node = cxx_node(x, CXX_TAGGED, node, cxx_source_name(x), 0);
    return node;
}

/* <template-param> ::= T_ | T <parameter-2 non-negative number> _ */
uint32_t cxx_tparam_leaf(struct cxx *x)
{
    cxx_want(x, 'T');
    return cxx_node(x, CXX_TPARAM, cxx_compact(x), 0, 0);
}

/* <module-name> ::= <module-subname>+, <module-subname> ::= W <source-name>
 * | W P <source-name>, the latter being a partition. */
bool cxx_module(struct cxx *x, uint16_t *module)
{
    while (!x->failed && cxx_take(x, 'W')) {
        char mark = cxx_take(x, 'P') ? ':' : '.';
        uint32_t name = cxx_source_name(x);

        *module =
            cxx_node(x, CXX_MODULE, *module, name, *module == 0 ? 0 : mark);
        cxx_remember(x, *module);
    }
    return !x->failed;
}

/* <seq-id> _ or _, after "S": the index of a substitution, in base 36. */
static uint32_t sequence(struct cxx *x)
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
        if (value >= CXX_SUBS_MAX)
            return cxx_fail(x);
    }
    x->s++;
    return value + 1;
}

/* The abbreviations St, Sa, Ss, Sb, Si, So and Sd, with ABI tags. In a prefix
 * before a constructor or destructor GNU spells the template out. */
static uint32_t standard(struct cxx *x, bool prefix)
{
    uint32_t node;
    uint32_t i = 0;

    while (cxx_std[i].code != *x->s)
        if (++i == CXX_STD_COUNT)
            return cxx_fail(x);
    x->s++;
    node = cxx_word(x, CXX_STD, i, prefix && (*x->s == 'C' || *x->s == 'D'));
    if (*x->s == 'B') {
        node = cxx_tags(x, node);
        cxx_remember(x, node);
    }
    return node;
}

/* <substitution> ::= S <seq-id> _ | S_ | an abbreviation */
uint32_t cxx_substitution(struct cxx *x, bool prefix)
{
    uint32_t index;

    cxx_want(x, 'S');
    if (cxx_is_lower(*x->s))
        return standard(x, prefix);
    index = sequence(x);
    if (x->failed || index >= x->sub_count)
        return cxx_fail(x);
    return x->subs[index];
}

/*
 * Most rules are forms: rows of steps, a quarter of the code of a state machine
 * in C. In C are the rules that real names use most, for speed, and those that
 * decide by more than a letter or two. The result of a step is x->ret; f->a and
 * f->b keep earlier ones until a node is made; f->c is an operator, a special
 * name or a letter.
 */

/* A step below CXX_RULES calls that rule. (c), (rule), (kind): the next one or
 * two bytes of the form. */
enum cxx_step {
    /* the name */
    SKIP = CXX_RULES, /* one byte */
    BACK,             /* one byte */
    WANT,             /* (c) is next */
    TAKE,             /* (c) may be next */
    UNLESS,           /* (c) is next; if it is not, go on with form (rule) */
    LLVM,             /* only LLVM knows this */
    WORD,             /* <source-name> */
    DIGITS,           /* <number>, kept as text */
    OFFSET,           /* <number>, not printed */
    MODULE,
    CALL_OFFSET,
    FAIL,
    /* calls of rules */
    CALLS,
    MANY = CALLS, /* (c) (rule): a list of any length that ends with c */
    SOME,         /* (c) (rule): the same with at least one element */
    SIGNATURE,    /* a function's types, the returned one first */
    NUMBER,       /* digits or an expression */
    TYPE_OF,      /* a type or a function's parameter */
    MEMBER,       /* after a member access: an operator or an expression */
    ARGUMENTS,    /* template arguments, if there are any, else the form ends */
    INITIALIZER,
    /* results */
    KEEPS,
    A = KEEPS, /* keeps the result */
    B,         /* keeps it as the second */
    SWAP,      /* the result and what A has kept */
    OPERATOR,  /* of a fold */
    CLONE,     /* which of two transaction clones */
    NOEXCEPT,  /* of a requirement */
    NO_ARRAY,  /* fails for one */
    NO_VOID,   /* an empty list or (void) is none */
    REFERENCE, /* qualifies the function */
    PAIR,      /* a list of what B has kept and the result */
    TEMPLATE,  /* of the name that A has kept and its arguments */
    MAKE,      /* (kind): a node of the result and what A has kept */
    /* the last step */
    GIVES,
    GIVE = GIVES, /* returns the result */
    NODE,         /* (kind): a node of the result, what A has kept, and f->c */
    NEW,          /* (kind): the same without f->c, the next substitution */
    DECLARED,
    FLOAT,
    TEMPORARY,
};

#define CXX_FORM_BYTES 16

#define TYPE CXX_R_TYPE
#define EXPR CXX_R_EXPR
#define NAME CXX_R_NAME
#define ARGS CXX_R_ARGS

/* The comments are the grammar of the ABI, chapter 5.1. */
/* clang-format off */
static const uint8_t forms[][CXX_FORM_BYTES] = {
#define FORM(rule) [CXX_R_##rule - CXX_R_FORMS]
    /* F [Y] <bare-function-type> [<ref-qualifier>] E; Y means extern "C" */
    FORM(FUNCTION) = {SKIP, TAKE, 'Y', SIGNATURE, REFERENCE, WANT, 'E', GIVE},
    /* A _ <type> | A <number> _ <type> | A <expression> _ <type> */
    FORM(ARRAY) = {SKIP, UNLESS, '_', CXX_R_ARRAY_OF, TYPE, NEW, CXX_ARRAY},
    FORM(ARRAY_OF) = {NUMBER, A, WANT, '_', TYPE, NEW, CXX_ARRAY},
    /* M <class type> <member type>; arrays have no members */
    FORM(MEMBER) = {SKIP, TYPE, NO_ARRAY, A, TYPE, SWAP, NEW, CXX_PTRMEM},
    /* u <source-name> [<template-args>], a vendor's type */
    FORM(VENDOR) = {SKIP, WORD, UNLESS, 'I', CXX_R_VENDOR_PLAIN, LLVM, A, BACK,
                    ARGS, SWAP, MAKE, CXX_VENDOR_EXPR, NEW, CXX_VENDOR},
    FORM(VENDOR_PLAIN) = {NEW, CXX_VENDOR},
    /* U <source-name> [<template-args>] <type>, a vendor's qualifier */
    FORM(VENDOR_QUAL) = {SKIP, WORD, A, UNLESS, 'I', CXX_R_VENDOR_OF, BACK,
                         ARGS, SWAP, MAKE, CXX_TEMPLATE, A, TYPE, NEW,
                         CXX_VENDOR_QUAL},
    FORM(VENDOR_OF) = {TYPE, NEW, CXX_VENDOR_QUAL},
    /* Dt <expression> E, DT <expression> E; Dp <type> */
    FORM(DECLTYPE) = {EXPR, WANT, 'E', NEW, CXX_DECLTYPE},
    FORM(EXPANSION) = {TYPE, NEW, CXX_EXPANSION},
    /* Dv <number> _ <type> | Dv _ <expression> _ <type> */
    FORM(VECTOR) = {UNLESS, '_', CXX_R_VECTOR_OF, EXPR, A, WANT, '_', TYPE, NEW,
                    CXX_VECTOR},
    FORM(VECTOR_OF) = {DIGITS, A, WANT, '_', TYPE, NEW, CXX_VECTOR},
    /* DB <number> _ | DB <expression> _, and DU: _BitInt(N) */
    FORM(BITINT) = {LLVM, NUMBER, WANT, '_', NODE, CXX_BITINT},
    /* DF <number> _ | DF <number> x | DF16b */
    FORM(FLOAT) = {DIGITS, FLOAT},

    /* <unqualified-name> [<template-args>] */
    FORM(WORD_EXPR) = {CXX_R_UNQUALIFIED, ARGUMENTS, TEMPLATE, GIVE},
    /* u <source-name> <template-arg>* E, a vendor's extension */
    FORM(VENDOR_EXPR) = {SKIP, WORD, A, MANY, 'E', CXX_R_ARG, SWAP, NODE,
                         CXX_VENDOR_EXPR},
    /* il <expression>* E; tl <type> <expression>* E; sp <expression> */
    FORM(BRACES) = {MANY, 'E', EXPR, SWAP, NODE, CXX_BRACES},
    FORM(BRACES_OF) = {TYPE, A, MANY, 'E', EXPR, SWAP, NODE, CXX_BRACES},
    FORM(EXPAND) = {EXPR, NODE, CXX_EXPANSION},
    /* cv <type> <expression> | cv <type> _ <expression>* E */
    FORM(CAST) = {TYPE, A, UNLESS, '_', CXX_R_CAST_ONE, MANY, 'E', EXPR, SWAP,
                  NODE, CXX_CAST},
    FORM(CAST_ONE) = {EXPR, SWAP, NODE, CXX_CAST},
    /* fl <operator-name> <expression>, fr, unary folds; fL, fR, binary ones */
    FORM(FOLD) = {OPERATOR, EXPR, NODE, CXX_FOLD},
    FORM(FOLD_INIT) = {OPERATOR, EXPR, A, EXPR, SWAP, NODE, CXX_FOLD},
    /* rq <requirement>+ E | rQ <type>+ _ <requirement>+ E */
    FORM(REQUIRES) = {LLVM, SOME, 'E', CXX_R_REQUIREMENT, SWAP, NODE,
                      CXX_REQUIRES},
    FORM(REQUIRES_OF) = {LLVM, SOME, '_', TYPE, NO_VOID, A, SOME, 'E',
                         CXX_R_REQUIREMENT, SWAP, NODE, CXX_REQUIRES},
    /* X <expression> [N] [R <type-constraint>] | T <type> | Q <expression> */
    FORM(NEEDS_EXPR) = {EXPR, NOEXCEPT, UNLESS, 'R', CXX_R_NEEDS_PLAIN, A, NAME,
                        SWAP, NODE, CXX_REQUIREMENT},
    FORM(NEEDS_PLAIN) = {NODE, CXX_REQUIREMENT},
    FORM(NEEDS_TYPE) = {TYPE, NODE, CXX_REQUIREMENT},
    FORM(NEEDS_MORE) = {EXPR, NODE, CXX_REQUIREMENT},
    /* Ty | Tk <concept name> | Tn <type> | Tt <template-param-decl>* E
     * | Tp <template-param-decl> */
    FORM(DECL_TYPE) = {DECLARED},
    FORM(DECL_CONCEPT) = {LLVM, NAME, DECLARED},
    FORM(DECL_VALUE) = {TYPE, DECLARED},
    FORM(DECL_TEMPLATE) = {MANY, 'E', CXX_R_TPARAM_DECL, DECLARED},
    FORM(DECL_PACK) = {CXX_R_TPARAM_DECL, DECLARED},
    /* DC <source-name>+ E */
    FORM(BINDING) = {SKIP, SKIP, SOME, 'E', CXX_R_WORD, NODE, CXX_BINDING},
    FORM(WORD) = {WORD, GIVE},

/* Operands, by the shape of the operator (enum cxx_shape). */
#define SHAPE(shape) [CXX_R_OPERATION - CXX_R_FORMS + CXX_OP_##shape]
    SHAPE(NAME_ONLY) = {FAIL},
    SHAPE(NULLARY) = {NODE, CXX_NULLARY},
    SHAPE(UNARY) = {EXPR, NODE, CXX_OPERATION},
    SHAPE(ADDRESS) = {EXPR, NODE, CXX_OPERATION},
    SHAPE(GLOBAL) = {EXPR, NODE, CXX_OPERATION},
    SHAPE(NOEXCEPT) = {EXPR, NODE, CXX_OPERATION},
    SHAPE(OF_EXPR) = {EXPR, NODE, CXX_OPERATION},
    SHAPE(OF_TYPE) = {TYPE_OF, NODE, CXX_OPERATION},
    SHAPE(SIZEOF_TYPE) = {TYPE_OF, NODE, CXX_OPERATION},
    SHAPE(SIZEOF_PACK) = {EXPR, NODE, CXX_OPERATION},
    /* written like template arguments, but for their first letter */
    SHAPE(SIZEOF_ARGS) = {BACK, ARGS, NODE, CXX_OPERATION},
    SHAPE(STEP) = {UNLESS, '_', CXX_R_SUFFIX, EXPR, NODE, CXX_OPERATION},
    FORM(SUFFIX) = {EXPR, NODE, CXX_POSTFIX},
    SHAPE(BINARY) = {EXPR, A, EXPR, SWAP, NODE, CXX_OPERATION},
    SHAPE(ASSIGN) = {EXPR, A, EXPR, SWAP, NODE, CXX_OPERATION},
    SHAPE(GREATER) = {EXPR, A, EXPR, SWAP, NODE, CXX_OPERATION},
    SHAPE(INDEX) = {EXPR, A, EXPR, SWAP, NODE, CXX_OPERATION},
    SHAPE(CALL) = {EXPR, A, MANY, 'E', EXPR, SWAP, NODE, CXX_OPERATION},
    SHAPE(MEMBER) = {EXPR, A, MEMBER, SWAP, NODE, CXX_OPERATION},
    SHAPE(CAST) = {TYPE, A, EXPR, SWAP, NODE, CXX_OPERATION},
    SHAPE(CONDITIONAL) = {EXPR, A, EXPR, B, EXPR, PAIR, SWAP, NODE,
                          CXX_OPERATION},
    /* [gs] nw <expression>* _ <type> E | ... <type> <initializer> */
    SHAPE(NEW) = {MANY, '_', EXPR, NO_VOID, A, TYPE, B, INITIALIZER, PAIR,
                  SWAP, NODE, CXX_OPERATION},
    SHAPE(FOLD) = {FAIL},
    SHAPE(FIELD) = {WORD, A, EXPR, SWAP, NODE, CXX_DESIGNATED},
    SHAPE(AT) = {EXPR, A, EXPR, SWAP, NODE, CXX_DESIGNATED},
    SHAPE(RANGE) = {EXPR, A, EXPR, B, EXPR, PAIR, SWAP, NODE, CXX_DESIGNATED},

/* What follows special names (enum cxx_special_shape). */
#define THEN(shape) [CXX_R_SPECIAL_OF - CXX_R_FORMS + CXX_THEN_##shape]
    THEN(TYPE) = {TYPE, NODE, CXX_SPECIAL},
    THEN(NAME) = {NAME, NODE, CXX_SPECIAL},
    THEN(ENCODING) = {CXX_R_ENCODING, NODE, CXX_SPECIAL},
    THEN(CLONE) = {CLONE, CXX_R_ENCODING, NODE, CXX_SPECIAL},
    THEN(OFFSET) = {BACK, CALL_OFFSET, CXX_R_ENCODING, NODE, CXX_SPECIAL},
    THEN(OFFSETS) = {CALL_OFFSET, CALL_OFFSET, CXX_R_ENCODING, NODE,
                     CXX_SPECIAL},
    /* TC <type> <offset> _ <base type>: the base is printed first */
    THEN(TYPES) = {TYPE, A, OFFSET, WANT, '_', TYPE, NODE, CXX_SPECIAL},
    THEN(ARG) = {CXX_R_ARG, NODE, CXX_SPECIAL},
    THEN(TEMPORARY) = {NAME, TEMPORARY},
    THEN(MODULE) = {MODULE, NODE, CXX_SPECIAL},
    THEN(RESOURCE) = {CXX_R_RESOURCE, NODE, CXX_SPECIAL},
};

/* clang-format on */

/* Which form two letters begin. Operators are in cxx_ops[]. */
static const struct {
    char code[2];
    uint8_t rule;
} beginnings[] = {
    {"Dt", CXX_R_DECLTYPE},      {"DT", CXX_R_DECLTYPE},
    {"Dp", CXX_R_EXPANSION},     {"Dv", CXX_R_VECTOR},
    {"DB", CXX_R_BITINT},        {"DU", CXX_R_BITINT},
    {"DF", CXX_R_FLOAT},         {"Ty", CXX_R_DECL_TYPE},
    {"Tk", CXX_R_DECL_CONCEPT},  {"Tn", CXX_R_DECL_VALUE},
    {"Tt", CXX_R_DECL_TEMPLATE}, {"Tp", CXX_R_DECL_PACK},
    {"sr", CXX_R_SCOPED},        {"il", CXX_R_BRACES},
    {"tl", CXX_R_BRACES_OF},     {"sp", CXX_R_EXPAND},
    {"cv", CXX_R_CAST},          {"rq", CXX_R_REQUIRES},
    {"rQ", CXX_R_REQUIRES_OF},   {"fl", CXX_R_FOLD},
    {"fr", CXX_R_FOLD},          {"fL", CXX_R_FOLD_INIT},
    {"fR", CXX_R_FOLD_INIT},
};

bool cxx_begin(struct cxx *x)
{
    const uint32_t rows = sizeof beginnings / sizeof *beginnings;
    uint32_t i = cxx_find(x->s, beginnings, sizeof *beginnings, rows);

    if (i == rows)
        return false;
    cxx_become(x, beginnings[i].rule, 0);
    x->frame->c = (uint8_t)x->s[1];
    x->s += 2;
    return true;
}

bool cxx_is_fparam(const struct cxx *x)
{
    return *x->s == 'f' &&
           (x->s[1] == 'p' || (x->s[1] == 'L' && cxx_is_digit(x->s[2])));
}

/* After a member access a lone lower-case code may be an operator's name. */
static uint8_t member_rule(const struct cxx *x)
{
    return cxx_is_lower(*x->s) && !cxx_next(x, 's', 'r') &&
                   !cxx_next(x, 'o', 'n') && !cxx_next(x, 'g', 's')
               ? CXX_R_UNQUALIFIED
               : CXX_R_EXPR;
}

/* A list of any length up to (end); with CXX_SOME at least one element. */
static void list_to(struct cxx *x, const struct cxx_frame *f, char end,
                    unsigned rule)
{
    cxx_call(x, f->at, CXX_R_LIST, rule << 8 | (unsigned char)end);
}

/* pi <expression>* E | il <expression>* E | E */
static void initializer(struct cxx *x, const struct cxx_frame *f)
{
    if (cxx_take(x, 'E')) {
        x->ret = 0;
    } else if (cxx_next(x, 'p', 'i')) {
        x->s += 2;
        list_to(x, f, 'E', CXX_R_EXPR);
    } else if (cxx_next(x, 'i', 'l')) {
        cxx_call(x, f->at, CXX_R_EXPR, 0);
    } else {
        cxx_fail(x);
    }
}

/* The steps that call a rule. (next): the bytes after the step. */
static void call_rule(struct cxx *x, struct cxx_frame *f, uint8_t step,
                      const uint8_t *next)
{
    uint8_t rule = CXX_R_EXPR;

    switch (step) {
    case MANY:
    case SOME:
        f->at += 2;
        list_to(x, f, (char)(next[0] | (step == SOME ? CXX_SOME : 0)), next[1]);
        return;
    case SIGNATURE:
        cxx_call(x, f->at, CXX_R_BARE, 1);
        return;
    case NUMBER:
        if (cxx_is_digit(*x->s)) {
            x->ret = cxx_digits(x);
            return;
        }
        break;
    case TYPE_OF:
        rule = cxx_is_fparam(x) ? CXX_R_EXPR : CXX_R_TYPE;
        break;
    case MEMBER:
        rule = member_rule(x);
        break;
    case ARGUMENTS:
        if (*x->s != 'I') {
            cxx_give(x, x->ret);
            return;
        }
        f->a = x->ret;
        rule = CXX_R_ARGS;
        break;
    default:
        initializer(x, f);
        return;
    }
    cxx_call(x, f->at, rule, 0);
}

/* h <number> _ | v <number> _ <number> _. Offsets are not printed. */
static void call_offset(struct cxx *x)
{
    int numbers = *x->s == 'v' ? 2 : 1;

    if (!cxx_take(x, 'h') && !cxx_take(x, 'v'))
        cxx_fail(x);
    for (; numbers > 0; numbers--) {
        cxx_take(x, 'n');
        if (!cxx_is_digit(*x->s))
            cxx_fail(x);
        cxx_digits(x);
        cxx_want(x, '_');
    }
}

/* The steps that read the name, without a rule. */
static void read(struct cxx *x, struct cxx_frame *f, uint8_t step,
                 const uint8_t *next)
{
    switch (step) {
    case SKIP:
        x->s++;
        break;
    case BACK:
        x->s--;
        break;
    case UNLESS:
        f->at += 2;
        if (!cxx_take(x, (char)next[0])) {
            f->rule = next[1];
            f->at = 0;
        }
        break;
    case TAKE:
        cxx_take(x, (char)next[0]);
        f->at++;
        break;
    case WANT:
        cxx_want(x, (char)next[0]);
        f->at++;
        break;
    case LLVM:
        x->llvm = true;
        break;
    case WORD:
        x->ret = cxx_source_name(x);
        break;
    case DIGITS:
        x->ret = cxx_digits(x);
        break;
    case OFFSET:
        cxx_number(x);
        break;
    case MODULE:
        x->ret = 0;
        if (*x->s != 'W' || !cxx_module(x, &x->ret))
            cxx_fail(x);
        break;
    case CALL_OFFSET:
        call_offset(x);
        break;
    default:
        cxx_fail(x);
    }
}

/* The operator of a fold, with the fold's form, the letter f->c. */
static uint32_t fold_operator(struct cxx *x, char form)
{
    uint32_t op = cxx_take_op(x);

    return (uint16_t)(op | (form == 'l'   ? CXX_FOLD_LEFT
                            : form == 'r' ? CXX_FOLD_RIGHT
                            : form == 'L' ? CXX_FOLD_LEFT_INIT
                                          : CXX_FOLD_RIGHT_INIT));
}

static uint8_t kind_behind_cv(const struct cxx *x, uint32_t node)
{
    while (cxx_at(x, node)->kind >= CXX_CONST &&
           cxx_at(x, node)->kind <= CXX_RESTRICT)
        node = cxx_at(x, node)->a;
    return cxx_at(x, node)->kind;
}

/* The steps that keep, check and change results. */
static void keep(struct cxx *x, struct cxx_frame *f, uint8_t step,
                 const uint8_t *next)
{
    uint32_t ret = x->ret;

    switch (step) {
    case A:
        f->a = ret;
        break;
    case B:
        f->b = ret;
        break;
    case SWAP:
        x->ret = f->a;
        f->a = ret;
        break;
    case OPERATOR:
        f->c = fold_operator(x, (char)f->c);
        break;
    case CLONE: /* the non-transaction one is the next special */
        if (cxx_take(x, 'n'))
            f->c++;
        else
            cxx_want(x, 't');
        break;
    case NOEXCEPT:
        if (cxx_take(x, 'N'))
            f->c = 'N';
        break;
    case NO_ARRAY:
        if (kind_behind_cv(x, ret) == CXX_ARRAY)
            cxx_fail(x);
        break;
    case NO_VOID:
        x->ret = cxx_no_void(x, ret);
        break;
    case REFERENCE:
        if (*x->s == 'R' || *x->s == 'O')
            x->ret = cxx_node(x, *x->s++ == 'R' ? CXX_F_LREF : CXX_F_RREF, ret,
                              0, 0);
        break;
    case PAIR:
        x->ret = cxx_node(x, CXX_LIST, f->b, ret, 0);
        break;
    case TEMPLATE:
        x->ret = cxx_pair(x, CXX_TEMPLATE, f->a, ret);
        break;
    default: /* MAKE */
        f->at++;
        x->ret = cxx_node(x, next[0], ret, f->a, 0);
        f->a = 0;
    }
}

/* A declared parameter has no name in the mangled form. The printer invents one
 * ($T, $N or $TT); the number here, by kind, is that of LLVM. */
static uint32_t declare(struct cxx *x, uint32_t form, uint32_t made_of)
{
    unsigned which = form == 'n' ? 1 : form == 't' ? 2 : 0;
    uint32_t number = 0;

    if (form != 'p')
        number = x->invented[which]++;
    return cxx_node(x, CXX_TPARAM_DECL, made_of, number, form);
}

static void float_type(struct cxx *x)
{
    char form = *x->s;

    if (form != '_' && form != 'x' && form != 'b')
        cxx_fail(x);
    else
        x->s++;
    cxx_give_node(x, CXX_FLOATN, x->ret, 0, form);
}

/* The last steps. */
static void give(struct cxx *x, struct cxx_frame *f, uint8_t step, uint8_t kind)
{
    switch (step) {
    case GIVE:
        cxx_give(x, x->ret);
        break;
    case NODE:
        cxx_give_node(x, kind, x->ret, f->a, f->c);
        break;
    case NEW:
        cxx_give_new(x, cxx_node(x, kind, x->ret, f->a, 0));
        break;
    case DECLARED:
        cxx_give(x, declare(x, f->c, x->ret));
        break;
    case FLOAT:
        float_type(x);
        break;
    default:
        cxx_temporary(x, f);
    }
}

void cxx_form(struct cxx *x, struct cxx_frame *f)
{
    while (x->frame == f && !x->failed) {
        const uint8_t *next = forms[f->rule - CXX_R_FORMS] + f->at++;
        uint8_t step = *next++;

        if (step < CXX_RULES)
            cxx_call(x, f->at, step, 0);
        else if (step < CALLS)
            read(x, f, step, next);
        else if (step < KEEPS)
            call_rule(x, f, step, next);
        else if (step < GIVES)
            keep(x, f, step, next);
        else
            give(x, f, step, *next);
    }
}

/* A list up to a byte, which is consumed. f->a: the byte, CXX_SOME, and the
 * rule of an element. */
void cxx_list_rule(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 1)
        cxx_append(x, &f->b, &f->c, x->ret);
    if ((f->at == 1 || !(f->a & CXX_SOME)) && cxx_take(x, (char)(f->a & 0x7f)))
        cxx_give(x, cxx_list(x, f->b, f->c));
    else
        cxx_call(x, 1, (uint8_t)(f->a >> 8), 0);
}

static cxx_rule_fn *const rules[CXX_R_FORMS + 1] = {
    [CXX_R_ENCODING] = cxx_encoding,
    [CXX_R_SPECIAL] = cxx_special,
    [CXX_R_RESOURCE] = cxx_resource,
    [CXX_R_BARE] = cxx_bare,
    [CXX_R_NAME] = cxx_name,
    [CXX_R_NESTED] = cxx_nested,
    [CXX_R_NESTED_TYPE] = cxx_nested,
    [CXX_R_LOCAL] = cxx_local,
    [CXX_R_UNQUALIFIED] = cxx_unqualified,
    [CXX_R_OPERATOR] = cxx_operator,
    [CXX_R_LAMBDA] = cxx_lambda,
    [CXX_R_TYPE] = cxx_type,
    [CXX_R_TYPE_D] = cxx_type_d,
    [CXX_R_QUALIFIED] = cxx_qualified,
    [CXX_R_TPARAM] = cxx_tparam,
    [CXX_R_ARGS] = cxx_args,
    [CXX_R_ARG] = cxx_arg,
    [CXX_R_LITERAL] = cxx_literal,
    [CXX_R_EXPR] = cxx_expr,
    [CXX_R_SCOPED] = cxx_scoped,
    [CXX_R_REQUIREMENT] = cxx_requirement,
    [CXX_R_TPARAM_DECL] = cxx_tparam_decl,
    [CXX_R_LIST] = cxx_list_rule,
    [CXX_R_FORMS] = cxx_form,
};

/* The interpreter: runs the rule on top of the stack until the stack is empty.
 * After a failure it resumes the rule that backtracks, if there is one. */
uint32_t cxx_parse(struct cxx *x)
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
