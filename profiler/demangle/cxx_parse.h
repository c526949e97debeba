/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CXX_PARSE_H
#define PROF_CXX_PARSE_H

/*
 * The parser's machine. Each rule of the grammar is a function, a state machine
 * whose state is f->at. Each step of it ends with one of
 *
 *     cxx_call      call another rule, continue in state (at) with its
 *                        result in x->ret
 *     cxx_become    tail call: be replaced by another rule
 *     cxx_give      return this node
 *     cxx_fail           the name is invalid
 *
 * If cxx_read_type() or cxx_run() return true, the called rule is done and
 * the step may continue.
 */

#include "demangle/cxx.h"

enum cxx_rule {
    CXX_R_ENCODING,
    CXX_R_SPECIAL,
    CXX_R_RESOURCE,
    CXX_R_BARE, /* a = 1: with a returned type */
    CXX_R_NAME,
    CXX_R_NESTED,
    CXX_R_NESTED_TYPE, /* the same, and a substitution */
    CXX_R_LOCAL,
    CXX_R_UNQUALIFIED, /* a = scope, b = module */
    CXX_R_OPERATOR,
    CXX_R_LAMBDA,
    CXX_R_TYPE,
    CXX_R_TYPE_D,
    CXX_R_QUALIFIED,
    CXX_R_TPARAM,
    CXX_R_ARGS,
    CXX_R_ARG,
    CXX_R_LITERAL,
    CXX_R_EXPR,
    CXX_R_SCOPED, /* sr */
    CXX_R_REQUIREMENT,
    CXX_R_TPARAM_DECL,
    CXX_R_LIST, /* a = byte that ends it, CXX_SOME, rule of an element << 8 */
    /* rows of forms[]: types */
    CXX_R_FORMS,
    CXX_R_FUNCTION = CXX_R_FORMS,
    CXX_R_ARRAY,
    CXX_R_ARRAY_OF,
    CXX_R_MEMBER,
    CXX_R_VENDOR,
    CXX_R_VENDOR_PLAIN,
    CXX_R_VENDOR_QUAL,
    CXX_R_VENDOR_OF,
    CXX_R_DECLTYPE,
    CXX_R_EXPANSION,
    CXX_R_VECTOR,
    CXX_R_VECTOR_OF,
    CXX_R_BITINT,
    CXX_R_FLOAT,
    /* expressions, and what is within them */
    CXX_R_WORD_EXPR,
    CXX_R_VENDOR_EXPR,
    CXX_R_BRACES,
    CXX_R_BRACES_OF,
    CXX_R_EXPAND,
    CXX_R_CAST,
    CXX_R_CAST_ONE,
    CXX_R_FOLD,
    CXX_R_FOLD_INIT,
    CXX_R_SUFFIX,
    CXX_R_REQUIRES,
    CXX_R_REQUIRES_OF,
    CXX_R_NEEDS_EXPR,
    CXX_R_NEEDS_PLAIN,
    CXX_R_NEEDS_TYPE,
    CXX_R_NEEDS_MORE,
    CXX_R_DECL_TYPE,
    CXX_R_DECL_CONCEPT,
    CXX_R_DECL_VALUE,
    CXX_R_DECL_TEMPLATE,
    CXX_R_DECL_PACK,
    CXX_R_BINDING,
    CXX_R_WORD,
    CXX_R_OPERATION,                                 /* + enum cxx_shape */
    CXX_R_SPECIAL_OF = CXX_R_OPERATION + CXX_SHAPES, /* + cxx_special_shape */
    CXX_RULES = CXX_R_SPECIAL_OF + CXX_SPECIAL_SHAPES
};

/* The list of a CXX_R_LIST is not empty. */
#define CXX_SOME 0x80u

typedef void cxx_rule_fn(struct cxx *x, struct cxx_frame *f);

PROF_HIDDEN cxx_rule_fn cxx_encoding, cxx_special, cxx_resource, cxx_bare,
    cxx_name, cxx_nested, cxx_local, cxx_unqualified, cxx_operator, cxx_lambda,
    cxx_type, cxx_type_d, cxx_qualified, cxx_tparam, cxx_args, cxx_arg,
    cxx_literal, cxx_expr, cxx_scoped, cxx_requirement, cxx_tparam_decl,
    cxx_list_rule, cxx_form;

PROF_HIDDEN void cxx_call(struct cxx *x, uint8_t at, uint8_t rule, uint32_t a);
/*
 * Like cxx_call() for CXX_R_TYPE, but runs at once what it can. True: the
 * type is in x->ret. False: as after cxx_call().
 */
PROF_HIDDEN bool cxx_read_type(struct cxx *x, uint8_t at);
PROF_HIDDEN void cxx_become(struct cxx *x, uint8_t rule, uint32_t a);
PROF_HIDDEN void cxx_give(struct cxx *x, uint32_t node);
/* The same with a new node, as cxx_node() makes it. */
PROF_HIDDEN void cxx_give_node(struct cxx *x, uint32_t kind, uint32_t a,
                               uint32_t b, uint32_t c);
/* The same; the node also becomes the next substitution. */
PROF_HIDDEN void cxx_give_new(struct cxx *x, uint32_t node);

/* Allocate nodes like cxx_node(). _word: a leaf, such as a name, builtin
 * type or abbreviation. _pair: both operands are nodes; it is CXX_FLAT if both
 * of them are. */
PROF_HIDDEN uint32_t cxx_word(struct cxx *x, uint8_t kind, uint32_t a,
                              uint32_t b);
PROF_HIDDEN uint32_t cxx_pair(struct cxx *x, uint8_t kind, uint32_t a,
                              uint32_t b);
/* Appends (item) to the list from (*head) to (*tail); both 0: an empty one. */
PROF_HIDDEN void cxx_append(struct cxx *x, uint16_t *head, uint16_t *tail,
                            uint32_t item);
/* Completes a list. An empty list is a node, too. */
PROF_HIDDEN uint32_t cxx_list(struct cxx *x, uint32_t head, uint32_t tail);

/* Terminals. Each returns a node or a number; 0 with x->failed set if there is
 * none. */
PROF_HIDDEN uint32_t cxx_source_name(struct cxx *x);
/* {B <source-name>}: (node) with its ABI tags. */
PROF_HIDDEN uint32_t cxx_tags(struct cxx *x, uint32_t node);
PROF_HIDDEN uint32_t cxx_substitution(struct cxx *x, bool prefix);
PROF_HIDDEN uint32_t cxx_tparam_leaf(struct cxx *x);
PROF_HIDDEN uint32_t cxx_digits(struct cxx *x);
PROF_HIDDEN void cxx_skip_digits(struct cxx *x);
/* Decimal number up to 0xfffe; fails if there is none. */
PROF_HIDDEN uint32_t cxx_number(struct cxx *x);
/* "_" is 0, "5_" is 6. */
PROF_HIDDEN uint32_t cxx_compact(struct cxx *x);
PROF_HIDDEN bool cxx_module(struct cxx *x, uint16_t *module);

/* The node kind for a type that is one letter and another type, 0 if (c) is no
 * such letter. <type> ::= P <type> | R <type> | O <type> | C <type> | G <type>
 * | <CV-qualifiers> <type>. */
PROF_HIDDEN uint8_t cxx_modifier(char c);
/* Becomes the form that the next two letters begin, if there is one, and
 * consumes them. f->c is the second of them. */
PROF_HIDDEN bool cxx_begin(struct cxx *x);
/* The index of the operator whose code is next, which is consumed. */
PROF_HIDDEN uint32_t cxx_take_op(struct cxx *x);
/* Whether a <function-param> is next. */
PROF_HIDDEN bool cxx_is_fparam(const struct cxx *x);
/* (list), or 0 if it is empty or (void). */
PROF_HIDDEN uint32_t cxx_no_void(const struct cxx *x, uint32_t list);
/* The end of a reference temporary's name, which is x->ret. */
PROF_HIDDEN cxx_rule_fn cxx_temporary;

/* The name is invalid. Returns 0, which is no node. */
static inline uint32_t cxx_fail(struct cxx *x)
{
    x->failed = true;
    return 0;
}

/* Makes (node) the next substitution. */
PROF_HIDDEN void cxx_remember(struct cxx *x, uint32_t node);

/* Runs the first step of the rule that (caller) has just called. True: the rule
 * is done. Use it only for rules whose first step cannot call the caller's rule
 * in the same way, or the C stack would grow with the name. */
static inline bool cxx_run(struct cxx *x, const struct cxx_frame *caller,
                           cxx_rule_fn *rule)
{
    if (!x->failed)
        rule(x, x->frame);
    return x->frame == caller && !x->failed;
}

/* Consumes (c) if it is next. _want: fails if it is not. */
static inline bool cxx_take(struct cxx *x, char c)
{
    if (*x->s != c)
        return false;
    x->s++;
    return true;
}

PROF_HIDDEN void cxx_want(struct cxx *x, char c);

static inline bool cxx_next(const struct cxx *x, char first, char second)
{
    return x->s[0] == first && x->s[1] == second;
}

static inline bool cxx_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool cxx_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Whether the letter is a builtin type: all but k, p, q, r, u. */
static inline bool cxx_is_builtin(char c)
{
    return cxx_is_lower(c) && (0x3ec7bffu >> (c - 'a') & 1);
}

static inline bool cxx_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

#endif
