/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CXX_FORMS_H
#define PROF_CXX_FORMS_H

/*
 * The rules of the C++ parser that are forms, which is most of them: rows of
 * steps (cxx_forms.c), run one after the other (cxx_form.c). A form takes a
 * quarter of the code of a state machine in C. In C are the rules that real
 * names use most, for speed, and those that decide by more than a letter or
 * two.
 *
 * The result of a step is x->ret. f->a and f->b keep earlier results until a
 * node is made, f->c is an operator, a special name or a letter.
 */

#include "demangle/cxx_parse.h"

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
    NO_VOID,   /* (void) are no parameters */
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

/* The form of rule CXX_R_FORMS + i. */
PROF_HIDDEN extern const uint8_t prof_cxx_forms[][CXX_FORM_BYTES];

#endif
