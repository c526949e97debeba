/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RUST_H
#define PROF_RUST_H

/* What Rust's two manglings share, and the internals of v0. */

#include "demangle/languages.h"

/* The end of the name without a ".llvm.0123ABCD" that LTO appended. */
PROF_HIDDEN const char *prof_rust_end(const char *name, const char *end);

/* Whether [s, end) may follow a name: nothing, or a suffix such as ".cold". */
PROF_HIDDEN bool prof_rust_is_suffix(const char *s, const char *end);

static inline bool prof_rust_is_char(uint32_t code)
{
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/*
 * The machine for v0. As in C++ (cxx_parse.h), each rule is a state machine
 * with a frame on an explicit stack. Names are printed while they are parsed;
 * for a back reference the parser jumps to an earlier position and returns.
 */
enum rust_rule {
    RUST_PATH, /* a = 1: as a value, with ::<> */
    RUST_TYPE,
    RUST_FN,
    RUST_DYN,
    RUST_DYN_TRAIT,
    RUST_OPEN_PATH, /* leaves '<' open, then x->open */
    RUST_ARG,
    RUST_CONST, /* a = 1: within an expression, no braces */
    RUST_FIELD,
    /* forms (rust_form.c): what a letter begins */
    RUST_FORMS,
    RUST_CRATE = RUST_FORMS,
    RUST_NESTED,
    RUST_IMPL,
    RUST_TRAIT_IMPL,
    RUST_TRAIT,
    RUST_GENERIC,
    RUST_PATH_BACK,
    RUST_REFERENCE,
    RUST_MUT_REFERENCE,
    RUST_POINTER,
    RUST_MUT_POINTER,
    RUST_ARRAY,
    RUST_SLICE,
    RUST_TUPLE,
    RUST_FN_TYPE,
    RUST_DYN_TYPE,
    RUST_TYPE_BACK,
    RUST_NAMED,
    RUST_CONST_REFERENCE,
    RUST_CONST_MUT,
    RUST_CONST_ARRAY,
    RUST_CONST_TUPLE,
    RUST_CONST_VARIANT,
    RUST_CONST_BACK,
    RUST_LITERAL,
    RUST_TUPLE_FIELDS,
    RUST_STRUCT_FIELDS,
    RUST_OPEN_BACK,
    RUST_OPEN_GENERIC,
    RUST_OPEN_OTHER,
    RUST_RULES
};

struct rust_frame {
    uint8_t rule;
    uint8_t at;
    uint16_t a, b, c;
};

/* The nesting limit of rustc-demangle. */
#define RUST_DEPTH 500u
/* Longer identifiers in Punycode are printed undecoded. */
#define RUST_PUNYCODE 128u

struct rust {
    const char *text; /* origin of back references */
    const char *s;
    const char *end;
    struct demangle_buffer *out;
    struct rust_frame *frame;
    struct rust_frame *floor;   /* empty here */
    struct rust_frame *ceiling; /* full here */
    uint32_t *characters;       /* RUST_PUNYCODE of them */
    uint32_t binders;           /* lifetimes bound so far */
    uint16_t depth;
    uint16_t backs; /* back references being followed */
    uint16_t quiet; /* > 0: nothing is printed */
    bool bad;       /* invalid here: enclosing rules print "?" */
    bool failed;    /* the whole name is invalid */
    bool open;      /* RUST_OPEN_PATH has left '<' open */
};

struct rust_ident {
    const char *ascii;
    const char *puny;
    uint16_t ascii_bytes, puny_bytes;
};

typedef void rust_rule_fn(struct rust *x, struct rust_frame *f);
PROF_HIDDEN rust_rule_fn prof_rust_path, prof_rust_type, prof_rust_fn,
    prof_rust_dyn, prof_rust_dyn_trait, prof_rust_open_path, prof_rust_arg,
    prof_rust_const, prof_rust_field, prof_rust_form;

PROF_HIDDEN void prof_rust_call(struct rust *x, uint8_t at, uint8_t rule,
                                uint16_t a);
PROF_HIDDEN void prof_rust_become(struct rust *x, uint8_t rule, uint16_t a);
/* Runs (form), with what the rule has in its frame. */
PROF_HIDDEN void prof_rust_go_on(struct rust *x, struct rust_frame *f,
                                 uint8_t form);
/* Everything but a literal needs braces outside of an expression: opens one,
 * unless f->a says it is inside. f->a becomes 2: the end closes it. */
PROF_HIDDEN void prof_rust_brace(struct rust *x, struct rust_frame *f);
/* The <identifier> that follows the namespace at f->b. */
PROF_HIDDEN rust_rule_fn prof_rust_behind_namespace;
/* Consumes a byte, f->b, 0 at the end. Returns the entry of forms[] for it,
 * which are 26; 0 if it is not 'A' to 'Z'. */
PROF_HIDDEN uint8_t prof_rust_form_of(struct rust *x, struct rust_frame *f,
                                      const uint8_t *forms);
/* Returns from a rule that called prof_rust_deeper(). */
PROF_HIDDEN void prof_rust_leave(struct rust *x);
/* Returns from one that did not. */
PROF_HIDDEN void prof_rust_done(struct rust *x);
/* Prints "{invalid syntax}" and returns from the rule. Outside of back
 * references the whole name is then invalid. */
PROF_HIDDEN void prof_rust_invalid(struct rust *x);
/* The same for an unbound lifetime, which does not make the name invalid. */
PROF_HIDDEN void prof_rust_unbound(struct rust *x);
/* True if parsing can continue; otherwise prints "?" and returns from the
 * rule. */
PROF_HIDDEN bool prof_rust_ready(struct rust *x);
/* Enters a nesting level. False, and returned from the rule: too deep. */
PROF_HIDDEN bool prof_rust_deeper(struct rust *x);
/* <backref> ::= "B" <base-62-number>, after the "B". Calls (rule, a) at that
 * position, then continues in state (at), which must first call
 * prof_rust_back_again(). Overwrites f->b and f->c. */
PROF_HIDDEN void prof_rust_back(struct rust *x, struct rust_frame *f,
                                uint8_t at, uint8_t rule, uint16_t a);
PROF_HIDDEN void prof_rust_back_again(struct rust *x, struct rust_frame *f);
/* One step of a list: calls (rule, a) for the next element, or consumes 'E' and
 * returns false. f->c counts the elements; (between) separates them. */
PROF_HIDDEN bool prof_rust_list(struct rust *x, struct rust_frame *f,
                                uint8_t at, uint8_t rule, uint16_t a,
                                const char *between);

PROF_HIDDEN bool prof_rust_eat(struct rust *x, char c);
/* <base-62-number> ::= {digit} "_"; "_" is 0, "0_" is 1. False: none. */
PROF_HIDDEN bool prof_rust_number(struct rust *x, uint32_t *value);
/* (tag) <base-62-number>: the number plus 1; 0 without the tag. */
PROF_HIDDEN bool prof_rust_tagged(struct rust *x, char tag, uint32_t *value);
PROF_HIDDEN bool prof_rust_ident(struct rust *x, struct rust_ident *ident);
/* [s<number>_] <ident> */
PROF_HIDDEN bool prof_rust_name(struct rust *x, uint32_t *which,
                                struct rust_ident *ident);
PROF_HIDDEN void prof_rust_print_ident(struct rust *x,
                                       const struct rust_ident *ident);
PROF_HIDDEN bool prof_rust_binder(struct rust *x, uint16_t *count);
PROF_HIDDEN bool prof_rust_lifetime(struct rust *x, uint32_t index);

/* Whether Rust's Debug output prints a character unescaped. */
PROF_HIDDEN bool prof_rust_is_shown(uint32_t code);

PROF_HIDDEN void prof_rust_print(struct rust *x, const char *s);
PROF_HIDDEN void prof_rust_print_number(struct rust *x, uint32_t value);

#endif
