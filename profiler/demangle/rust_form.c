/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust v0: the rules that are forms, which is most of them: text that is
 * printed, and between it steps, which are characters below the blank.
 */

#include "demangle/rust.h"

/* clang-format off */
/* calls of rules: their number, and one more */
#define PATH "\1"         /* not as a value */
#define TYPE "\2"
#define FN "\3"
#define DYN "\4"
#define OPEN_PATH "\6"
#define ARG "\7"
#define CONST "\10"       /* within an expression */
#define FIELD "\11"
/* others */
#define LEAVE "\12"       /* returns */
#define DONE "\13"        /* the same from a rule that is no nesting level */
#define VALUE_PATH "\14"  /* calls RUST_PATH as a value */
#define LIST "\16"        /* of the next rule, with ", " between, until E */
#define BACK "\17"        /* calls the next rule at a back reference */
#define IDENTIFIER "\20"
#define LAST_PART "\21"   /* of a nested path, in the namespace f->b */
#define LIFETIME "\22"    /* if there is one, and a blank */
#define DISAMBIGUATOR "\23" /* if there is one; not printed */
#define QUIET "\24"       /* nothing is printed */
#define LOUD "\35"
#define ARGUMENTS "\25"   /* "<", "::<" of a value */
#define SINGLE "\26"      /* ',' if the list had one element */
#define BRACE "\27"
#define END_BRACE "\30"   /* the same and LEAVE */
#define FIELDS "\31"
#define OPEN "\32"        /* x->open is true */
#define CLOSED "\33"
#define BACK_END "\34"

#define ROW(rule) [RUST_##rule - RUST_FORMS]
static const char rows[][16] = {
    ROW(CRATE) = IDENTIFIER LEAVE,
    /* this, GENERIC and NAMED continue after a path */
    ROW(NESTED) = LAST_PART LEAVE,
    ROW(IMPL) = DISAMBIGUATOR QUIET PATH LOUD "<" TYPE ">" LEAVE,
    ROW(TRAIT_IMPL) =
        DISAMBIGUATOR QUIET PATH LOUD "<" TYPE " as " PATH ">" LEAVE,
    ROW(TRAIT) = "<" TYPE " as " PATH ">" LEAVE,
    ROW(GENERIC) = ARGUMENTS LIST ARG ">" LEAVE,
    ROW(PATH_BACK) = BACK PATH BACK_END LEAVE,
    ROW(REFERENCE) = "&" LIFETIME TYPE LEAVE,
    ROW(MUT_REFERENCE) = "&" LIFETIME "mut " TYPE LEAVE,
    ROW(POINTER) = "*const " TYPE LEAVE,
    ROW(MUT_POINTER) = "*mut " TYPE LEAVE,
    ROW(ARRAY) = "[" TYPE "; " CONST "]" LEAVE,
    ROW(SLICE) = "[" TYPE "]" LEAVE,
    ROW(TUPLE) = "(" LIST TYPE SINGLE ")" LEAVE,
    ROW(FN_TYPE) = FN LEAVE,
    ROW(DYN_TYPE) = DYN LEAVE,
    ROW(TYPE_BACK) = BACK TYPE BACK_END LEAVE,
    ROW(NAMED) = LEAVE,
    ROW(CONST_REFERENCE) = BRACE "&" CONST END_BRACE,
    ROW(CONST_MUT) = BRACE "&mut " CONST END_BRACE,
    ROW(CONST_ARRAY) = BRACE "[" LIST CONST "]" END_BRACE,
    ROW(CONST_TUPLE) = BRACE "(" LIST CONST SINGLE ")" END_BRACE,
    ROW(CONST_VARIANT) = BRACE VALUE_PATH FIELDS,
    ROW(CONST_BACK) = BACK CONST BACK_END END_BRACE,
    ROW(LITERAL) = END_BRACE,
    ROW(TUPLE_FIELDS) = "(" LIST CONST ")" END_BRACE,
    ROW(STRUCT_FIELDS) = " { " LIST FIELD " }" END_BRACE,
    ROW(OPEN_BACK) = CLOSED BACK OPEN_PATH BACK_END DONE,
    ROW(OPEN_GENERIC) = PATH "<" LIST ARG OPEN DONE,
    ROW(OPEN_OTHER) = PATH CLOSED DONE,
};
/* clang-format on */

static void identifier(struct rust *x)
{
    struct rust_ident ident;
    uint32_t which;

    if (prof_rust_name(x, &which, &ident))
        prof_rust_print_ident(x, &ident);
    else
        prof_rust_invalid(x);
}

/* [<lifetime>] of a reference; the erased one, '_, is not printed. */
static void lifetime(struct rust *x)
{
    uint32_t index;

    if (!prof_rust_eat(x, 'L'))
        return;
    if (!prof_rust_number(x, &index)) {
        prof_rust_invalid(x);
    } else if (index != 0) {
        if (prof_rust_lifetime(x, index))
            prof_rust_print(x, " ");
        else
            prof_rust_unbound(x);
    }
}

/* fields ::= "U" | "T" {<const>} "E" | "S" {<field>} "E" */
static void fields(struct rust *x, struct rust_frame *f)
{
    if (!prof_rust_ready(x))
        return;
    f->at = 0;
    if (prof_rust_eat(x, 'U'))
        f->rule = RUST_LITERAL;
    else if (prof_rust_eat(x, 'T'))
        f->rule = RUST_TUPLE_FIELDS;
    else if (prof_rust_eat(x, 'S'))
        f->rule = RUST_STRUCT_FIELDS;
    else
        prof_rust_invalid(x);
}

/* The steps that neither call nor return. */
static void simple_step(struct rust *x, struct rust_frame *f, char step)
{
    uint32_t which;

    if (step == *LAST_PART)
        prof_rust_behind_namespace(x, f);
    else if (step == *ARGUMENTS)
        prof_rust_print(x, f->a ? "::<" : "<");
    else if (step == *LIFETIME)
        lifetime(x);
    else if (step == *BACK_END)
        prof_rust_back_again(x, f);
    else if (step == *IDENTIFIER)
        identifier(x);
    else if (step == *DISAMBIGUATOR) {
        if (!prof_rust_tagged(x, 's', &which))
            prof_rust_invalid(x);
    } else if (step == *QUIET)
        x->quiet++;
    else if (step == *LOUD)
        x->quiet--;
    else if (step == *SINGLE)
        prof_rust_print(x, f->c == 1 ? "," : "");
    else if (step == *BRACE)
        prof_rust_brace(x, f);
    else if (step == *FIELDS)
        fields(x, f);
    else
        x->open = step == *OPEN;
}

/* The others. (next): what follows the step. */
static void step(struct rust *x, struct rust_frame *f, char step,
                 const char *next)
{
    uint8_t rule = (uint8_t)(step - 1);

    if (rule < RUST_FORMS) {
        prof_rust_call(x, f->at, rule, rule == RUST_CONST);
    } else if (step == *LEAVE) {
        prof_rust_leave(x);
    } else if (step == *VALUE_PATH) {
        prof_rust_call(x, f->at, RUST_PATH, 1);
    } else if (step == *LIST) {
        rule = (uint8_t)(*next - 1);
        if (!prof_rust_list(x, f, (uint8_t)(f->at - 1), rule,
                            rule == RUST_CONST, ", "))
            f->at++;
    } else if (step == *BACK) {
        prof_rust_back(x, f, (uint8_t)(f->at + 1), (uint8_t)(*next - 1), f->a);
    } else if (step == *END_BRACE) {
        if (f->a == 2)
            prof_rust_print(x, "}");
        prof_rust_leave(x);
    } else if (step == *DONE) {
        prof_rust_done(x);
    } else {
        simple_step(x, f, step);
    }
}

void prof_rust_form(struct rust *x, struct rust_frame *f)
{
    do {
        const char *s = rows[f->rule - RUST_FORMS] + f->at;
        const char *text = s;

        while (*s >= ' ')
            s++;
        if (s != text && x->quiet == 0)
            demangle_put_bytes(x->out, text, (size_t)(s - text));
        f->at = (uint8_t)(f->at + (s - text) + 1);
        step(x, f, *s, s + 1);
    } while (x->frame == f && !x->failed);
}

void prof_rust_go_on(struct rust *x, struct rust_frame *f, uint8_t form)
{
    f->rule = form;
    f->at = 0;
    prof_rust_form(x, f);
}

uint8_t prof_rust_form_of(struct rust *x, struct rust_frame *f,
                          const uint8_t *forms)
{
    f->b = (uint8_t)(x->s < x->end ? *x->s++ : 0);
    return f->b >= 'A' && f->b <= 'Z' ? forms[f->b - 'A'] : 0;
}
