/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust v0: paths, generic arguments and types (RFC 2603, "Syntax of mangled
 * names").
 */

#include "demangle/rust.h"

/* <path> ::= "C" <identifier>, after the "C": a crate. The disambiguator, which
 * distinguishes versions of the crate, is not printed. */
static void crate(struct rust *x)
{
    struct rust_ident ident;
    uint32_t which;

    if (!prof_rust_name(x, &which, &ident)) {
        prof_rust_invalid(x);
        return;
    }
    prof_rust_print_ident(x, &ident);
    prof_rust_leave(x);
}

/* The <identifier> of "N" <namespace> <path> <identifier>. Upper-case
 * namespaces are closures and shims, printed with their disambiguator. */
static bool last_part(struct rust *x, char namespace)
{
    char letter[2] = {namespace, 0};
    struct rust_ident ident;
    uint32_t which;
    bool named;

    if (!prof_rust_name(x, &which, &ident))
        return false;
    if (x->quiet > 0)
        return true;
    named = ident.ascii_bytes > 0 || ident.puny_bytes > 0;
    if (namespace >= 'A' && namespace <= 'Z') {
        prof_rust_print(x, "::{");
        prof_rust_print(x, namespace == 'C'   ? "closure"
                           : namespace == 'S' ? "shim"
                                              : letter);
        prof_rust_print(x, named ? ":" : "");
        prof_rust_print_ident(x, &ident);
        prof_rust_print(x, "#");
        prof_rust_print_number(x, which);
        prof_rust_print(x, "}");
    } else if (named) {
        demangle_put_bytes(x->out, "::", 2);
        prof_rust_print_ident(x, &ident);
    }
    return true;
}

static void after_namespace(struct rust *x, char namespace)
{
    if (!prof_rust_ready(x))
        return;
    if (last_part(x, namespace))
        prof_rust_leave(x);
    else
        prof_rust_invalid(x);
}

/* Most paths are a crate and a few names, NvNtNtC5crate..., and need no frames.
 * False, with nothing consumed: this is another kind of path. */
static bool short_path(struct rust *x)
{
    const char *s = x->s;
    struct rust_ident ident;
    uint32_t which;
    unsigned levels = 0;

    while (levels < 8 && s[0] == 'N' &&
           ((s[1] >= 'a' && s[1] <= 'z') || (s[1] >= 'A' && s[1] <= 'Z'))) {
        levels++;
        s += 2;
    }
    if (*s != 'C' || x->depth + levels >= RUST_DEPTH)
        return false;
    x->s = s + 1;
    if (!prof_rust_name(x, &which, &ident)) {
        x->s -= levels * 2u + 1;
        return false;
    }
    prof_rust_print_ident(x, &ident);
    for (unsigned i = 0; i < levels; i++) {
        if (last_part(x, s[-1 - 2 * (int)i]))
            continue;
        if (x->backs == 0)
            x->failed = true;
        prof_rust_print(x, "{invalid syntax}");
        x->bad = true;
        while (++i < levels)
            prof_rust_print(x, "?");
    }
    prof_rust_done(x);
    return true;
}

/*
 * State 0 of <path>, f->b being its letter:
 *     C <identifier>                        crate
 *     N <namespace> <path> <identifier>     nested
 *     M <impl-path> <type>                  inherent impl
 *     X <impl-path> <type> <path>           trait impl
 *     Y <type> <path>                       trait definition
 *     I <path> {<generic-arg>} E            generic arguments
 *     B <base-62-number>                    back reference
 */
static void path_begin(struct rust *x, struct rust_frame *f)
{
    uint32_t which;

    if (!prof_rust_ready(x) || short_path(x) || !prof_rust_deeper(x))
        return;
    f->b = (uint16_t)(x->s < x->end ? *x->s++ : 0);
    switch (f->b) {
    case 'C':
        crate(x);
        return;
    case 'N':
        f->b = (uint16_t)(x->s < x->end ? *x->s++ : 0);
        if (!((f->b >= 'A' && f->b <= 'Z') || (f->b >= 'a' && f->b <= 'z')))
            prof_rust_invalid(x);
        else
            prof_rust_call(x, 1, RUST_PATH, f->a);
        return;
    case 'M':
    case 'X': /* the path of the impl block itself is not printed */
        if (!prof_rust_tagged(x, 's', &which)) {
            prof_rust_invalid(x);
            return;
        }
        x->quiet++;
        prof_rust_call(x, 2, RUST_PATH, 0);
        return;
    case 'Y':
        prof_rust_print(x, "<");
        prof_rust_call(x, 3, RUST_TYPE, 0);
        return;
    case 'I':
        prof_rust_call(x, 5, RUST_PATH, f->a);
        return;
    case 'B':
        prof_rust_back(x, f, 7, RUST_PATH, f->a);
        return;
    default:
        prof_rust_invalid(x);
    }
}

void prof_rust_path(struct rust *x, struct rust_frame *f)
{
    switch (f->at) {
    case 0:
        path_begin(x, f);
        return;
    case 1:
        after_namespace(x, (char)f->b);
        return;
    case 2:
        x->quiet--;
        prof_rust_print(x, "<");
        prof_rust_call(x, 3, RUST_TYPE, 0);
        return;
    case 3:
        if (f->b != 'M') {
            prof_rust_print(x, " as ");
            prof_rust_call(x, 4, RUST_PATH, 0);
            return;
        } /* fall through */
    case 4:
        prof_rust_print(x, ">");
        prof_rust_leave(x);
        return;
    case 5:
        prof_rust_print(x, f->a ? "::<" : "<"); /* fall through */
    case 6:
        if (prof_rust_list(x, f, 6, RUST_ARG, 0, ", "))
            return;
        prof_rust_print(x, ">");
        prof_rust_leave(x);
        return;
    default:
        prof_rust_back_again(x, f);
        prof_rust_leave(x);
    }
}

/* <generic-arg> ::= <lifetime> | <type> | "K" <const> */
void prof_rust_arg(struct rust *x, struct rust_frame *f)
{
    uint32_t lifetime;

    (void)f;
    if (prof_rust_eat(x, 'L')) {
        if (!prof_rust_number(x, &lifetime))
            prof_rust_invalid(x);
        else if (!prof_rust_lifetime(x, lifetime))
            prof_rust_unbound(x);
        else
            prof_rust_done(x);
    } else if (prof_rust_eat(x, 'K')) {
        prof_rust_become(x, RUST_CONST, 0);
    } else {
        prof_rust_become(x, RUST_TYPE, 0);
    }
}

/* <basic-type>: its name, NULL if the letter is none. */
static const char *basic_type(char c)
{
    /* From 'a' on; "" where the letter is none. */
    static const char names[][6] = {
        "i8",    "bool", "char", "f64", "str",  "f32",  "",    "u8", "isize",
        "usize", "",     "i32",  "u32", "i128", "u128", "_",   "",   "",
        "i16",   "u16",  "()",   "...", "",     "i64",  "u64", "!",
    };

    return c >= 'a' && c <= 'z' && names[c - 'a'][0] != 0 ? names[c - 'a']
                                                          : NULL;
}

/* <type> ::= "R" [<lifetime>] <type> | "Q" [<lifetime>] <type>: & and &mut. The
 * erased lifetime '_ is not printed. */
static void reference(struct rust *x, char letter)
{
    uint32_t lifetime;

    prof_rust_print(x, "&");
    if (prof_rust_eat(x, 'L')) {
        if (!prof_rust_number(x, &lifetime)) {
            prof_rust_invalid(x);
            return;
        }
        if (lifetime != 0) {
            if (!prof_rust_lifetime(x, lifetime)) {
                prof_rust_unbound(x);
                return;
            }
            prof_rust_print(x, " ");
        }
    }
    prof_rust_print(x, letter == 'Q' ? "mut " : "");
    prof_rust_call(x, 1, RUST_TYPE, 0);
}

/*
 * State 0 of <type>, f->b being its letter: a basic type, or
 *     R, Q  reference         P, O  raw pointer       A  [T; N]     S  [T]
 *     T  tuple                F  function pointer     D  dyn Trait
 *     B  back reference; anything else is a path, a named type
 */
static void type_begin(struct rust *x, struct rust_frame *f)
{
    const char *basic;

    if (!prof_rust_ready(x))
        return;
    f->b = (uint16_t)(x->s < x->end ? *x->s++ : 0);
    basic = basic_type((char)f->b);
    if (basic != NULL) {
        prof_rust_print(x, basic);
        prof_rust_done(x);
        return;
    }
    if (!prof_rust_deeper(x))
        return;
    switch (f->b) {
    case 'R':
    case 'Q':
        reference(x, (char)f->b);
        return;
    case 'P':
    case 'O':
        prof_rust_print(x, f->b == 'P' ? "*const " : "*mut ");
        prof_rust_call(x, 1, RUST_TYPE, 0);
        return;
    case 'A':
    case 'S':
        prof_rust_print(x, "[");
        prof_rust_call(x, 2, RUST_TYPE, 0);
        return;
    case 'T':
        prof_rust_print(x, "(");
        f->at = 4;
        return;
    case 'F':
        prof_rust_call(x, 1, RUST_FN, 0);
        return;
    case 'D':
        prof_rust_call(x, 1, RUST_DYN, 0);
        return;
    case 'B':
        prof_rust_back(x, f, 5, RUST_TYPE, 0);
        return;
    case 0:
        prof_rust_invalid(x);
        return;
    default:
        x->s--;
        prof_rust_call(x, 1, RUST_PATH, 0);
    }
}

void prof_rust_type(struct rust *x, struct rust_frame *f)
{
    switch (f->at) {
    case 0:
        type_begin(x, f);
        return;
    case 1:
        prof_rust_leave(x);
        return;
    case 2:
        if (f->b == 'A') {
            prof_rust_print(x, "; ");
            prof_rust_call(x, 3, RUST_CONST, 1);
            return;
        } /* fall through */
    case 3:
        prof_rust_print(x, "]");
        prof_rust_leave(x);
        return;
    case 4:
        if (prof_rust_list(x, f, 4, RUST_TYPE, 0, ", "))
            return;
        prof_rust_print(x, f->c == 1 ? ",)" : ")");
        prof_rust_leave(x);
        return;
    default:
        prof_rust_back_again(x, f);
        prof_rust_leave(x);
    }
}

/* <dyn-trait> ::= <path> {"p" <undisambiguated-identifier> <type>}, printed as
 * Trait<Arguments, Name = Type>. f->a: '<' is open. */
void prof_rust_dyn_trait(struct rust *x, struct rust_frame *f)
{
    struct rust_ident ident;

    if (f->at == 0) {
        prof_rust_call(x, 1, RUST_OPEN_PATH, 0);
        return;
    }
    if (f->at == 1)
        f->a = x->open;
    if (prof_rust_eat(x, 'p')) {
        prof_rust_print(x, f->a ? ", " : "<");
        f->a = 1;
        if (!prof_rust_ident(x, &ident)) {
            prof_rust_invalid(x);
            return;
        }
        prof_rust_print_ident(x, &ident);
        prof_rust_print(x, " = ");
        prof_rust_call(x, 2, RUST_TYPE, 0);
        return;
    }
    prof_rust_print(x, f->a ? ">" : "");
    prof_rust_done(x);
}
