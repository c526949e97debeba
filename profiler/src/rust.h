/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RUST_H
#define PROF_RUST_H

/* What the two manglings of Rust share, and the inside of the second. */

#include "demangle_languages.h"

/* Where a name ends without a last ".llvm.0123ABCD". */
PROF_HIDDEN const char *prof_rust_end(const char *name, const char *end);

/* Whether [s, end) may stand behind a name: nothing, or ".cold". */
PROF_HIDDEN bool prof_rust_is_suffix(const char *s, const char *end);

static inline bool prof_rust_is_char(uint32_t code)
{
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/*
 * The machine for v0: as in C++ (cxx_parse.h), each rule is a function that
 * goes on where its frame says. Names are printed while they are read; a back
 * reference reads on elsewhere and comes back.
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
    RUST_RULES
};

struct rust_frame {
    uint8_t rule;
    uint8_t at;
    uint16_t a, b, c;
};

/* As deep as rustc-demangle goes. */
#define RUST_DEPTH 500u
/* Characters of a name in Punycode that are decoded. */
#define RUST_PUNYCODE 128u

struct rust {
    const char *text; /* where back references count from */
    const char *s;
    const char *end;
    struct prof_out *out;
    struct rust_frame *frame;
    struct rust_frame *floor;   /* empty here */
    struct rust_frame *ceiling; /* full here */
    uint32_t *characters;       /* RUST_PUNYCODE of them */
    uint32_t binders;           /* lifetimes bound so far */
    uint16_t depth;
    uint16_t backs; /* back references under way */
    uint16_t quiet; /* > 0: nothing is printed */
    bool bad;       /* the rest of this cannot be read */
    bool failed;    /* no name at all */
    bool open;      /* what RUST_OPEN_PATH left */
};

struct rust_ident {
    const char *ascii;
    const char *puny;
    uint16_t ascii_bytes, puny_bytes;
};

typedef void rust_rule_fn(struct rust *x, struct rust_frame *f);
PROF_HIDDEN rust_rule_fn prof_rust_path, prof_rust_type, prof_rust_fn,
    prof_rust_dyn, prof_rust_dyn_trait, prof_rust_open_path, prof_rust_arg,
    prof_rust_const, prof_rust_field;

PROF_HIDDEN void prof_rust_call(struct rust *x, uint8_t at, uint8_t rule,
                                uint16_t a);
PROF_HIDDEN void prof_rust_become(struct rust *x, uint8_t rule, uint16_t a);
/* Ends a rule that went one deeper. */
PROF_HIDDEN void prof_rust_leave(struct rust *x);
/* Ends one that did not. */
PROF_HIDDEN void prof_rust_done(struct rust *x);
/* What cannot be read: said once, then the rule ends. */
PROF_HIDDEN void prof_rust_invalid(struct rust *x);
/* The same for a lifetime that nobody binds: the name may still be one. */
PROF_HIDDEN void prof_rust_unbound(struct rust *x);
/* Whether reading is possible; otherwise "?" is printed and the rule ends. */
PROF_HIDDEN bool prof_rust_ready(struct rust *x);
/* One deeper; false, and the rule has ended, if that is too deep. */
PROF_HIDDEN bool prof_rust_deeper(struct rust *x);
/* Runs (rule, a) at a back reference, then (at), which must call
 * prof_rust_back_again() first. f->b and f->c are used up. */
PROF_HIDDEN void prof_rust_back(struct rust *x, struct rust_frame *f,
                                uint8_t at, uint8_t rule, uint16_t a);
PROF_HIDDEN void prof_rust_back_again(struct rust *x, struct rust_frame *f);
/* One turn of a list: runs (rule, a) for the next element, or takes its 'E'
 * and returns false. f->c counts the elements. */
PROF_HIDDEN bool prof_rust_list(struct rust *x, struct rust_frame *f,
                                uint8_t at, uint8_t rule, uint16_t a,
                                const char *between);

PROF_HIDDEN bool prof_rust_eat(struct rust *x, char c);
/* Base 62; false where there is none or it is too large. */
PROF_HIDDEN bool prof_rust_number(struct rust *x, uint32_t *value);
/* The same after (tag), plus 1; 0 without the tag. */
PROF_HIDDEN bool prof_rust_tagged(struct rust *x, char tag, uint32_t *value);
PROF_HIDDEN bool prof_rust_ident(struct rust *x, struct rust_ident *ident);
PROF_HIDDEN void prof_rust_print_ident(struct rust *x,
                                       const struct rust_ident *ident);
PROF_HIDDEN bool prof_rust_binder(struct rust *x, uint16_t *count);
PROF_HIDDEN bool prof_rust_lifetime(struct rust *x, uint32_t index);

/* Whether Rust shows a character as itself where it quotes one. */
PROF_HIDDEN bool prof_rust_is_shown(uint32_t code);

PROF_HIDDEN void prof_rust_print(struct rust *x, const char *s);
PROF_HIDDEN void prof_rust_print_number(struct rust *x, uint32_t value);

#endif
