/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names, parser: the forms (cxx_forms.h) and what they begin with. */

#include "demangle/cxx_forms.h"

#define TYPE CXX_R_TYPE
#define EXPR CXX_R_EXPR
#define NAME CXX_R_NAME
#define ARGS CXX_R_ARGS

/* The comments are the grammar of the ABI, chapter 5.1. */
/* clang-format off */
const uint8_t prof_cxx_forms[][CXX_FORM_BYTES] = {
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
    SHAPE(UNARY) = {EXPR, NODE, CXX_UNARY},
    SHAPE(UNARY_TYPE) = {TYPE_OF, NODE, CXX_UNARY},
    SHAPE(STEP) = {UNLESS, '_', CXX_R_SUFFIX, EXPR, NODE, CXX_UNARY},
    FORM(SUFFIX) = {EXPR, NODE, CXX_POSTFIX},
    SHAPE(BINARY) = {EXPR, A, EXPR, SWAP, NODE, CXX_BINARY},
    SHAPE(CALL) = {EXPR, A, MANY, 'E', EXPR, SWAP, NODE, CXX_BINARY},
    SHAPE(MEMBER) = {EXPR, A, MEMBER, SWAP, NODE, CXX_BINARY},
    SHAPE(CAST) = {TYPE, A, EXPR, SWAP, NODE, CXX_BINARY},
    SHAPE(CONDITIONAL) = {EXPR, A, EXPR, B, EXPR, PAIR, SWAP, NODE,
                          CXX_CONDITIONAL},
    /* [gs] nw <expression>* _ <type> E | ... <type> <initializer> */
    SHAPE(NEW) = {MANY, '_', EXPR, A, TYPE, B, INITIALIZER, PAIR, SWAP, NODE,
                  CXX_NEW},
    SHAPE(FOLD) = {FAIL},
    /* written like template arguments, but for their first letter */
    SHAPE(SIZEOF_ARGS) = {BACK, ARGS, NODE, CXX_UNARY},
    SHAPE(FIELD) = {WORD, A, EXPR, SWAP, NODE, CXX_DESIGNATED},
    SHAPE(DESIGNATED) = {EXPR, A, EXPR, SWAP, NODE, CXX_DESIGNATED},
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

/* Which form two letters begin. Operators are in prof_cxx_ops[]. */
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

bool prof_cxx_begin(struct cxx *x)
{
    for (unsigned i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (cxx_next(x, beginnings[i].code[0], beginnings[i].code[1])) {
            prof_cxx_become(x, beginnings[i].rule, 0);
            x->frame->c = (uint8_t)x->s[1];
            x->s += 2;
            return true;
        }
    return false;
}
