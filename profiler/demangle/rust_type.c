/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust v0: paths, generic arguments and types (RFC 2603, "Syntax of mangled
 * names").
 */

#include "demangle/rust.h"

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

void prof_rust_behind_namespace(struct rust *x, struct rust_frame *f)
{
    if (prof_rust_ready(x) && !last_part(x, (char)f->b))
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
 * <path>, f->b being its letter:
 *     C <identifier>                        crate
 *     N <namespace> <path> <identifier>     nested
 *     M <impl-path> <type>                  inherent impl
 *     X <impl-path> <type> <path>           trait impl
 *     Y <type> <path>                       trait definition
 *     I <path> {<generic-arg>} E            generic arguments
 *     B <base-62-number>                    back reference
 */
void prof_rust_path(struct rust *x, struct rust_frame *f)
{
    static const uint8_t forms[26] = {
        ['C' - 'A'] = RUST_CRATE,     ['N' - 'A'] = RUST_NESTED,
        ['M' - 'A'] = RUST_IMPL,      ['X' - 'A'] = RUST_TRAIT_IMPL,
        ['Y' - 'A'] = RUST_TRAIT,     ['I' - 'A'] = RUST_GENERIC,
        ['B' - 'A'] = RUST_PATH_BACK,
    };
    uint8_t form;

    if (!prof_rust_ready(x) || short_path(x) || !prof_rust_deeper(x))
        return;
    form = prof_rust_form_of(x, f, forms);
    if (form == RUST_NESTED) {
        prof_rust_form_of(x, f, forms);
        if (!((f->b >= 'A' && f->b <= 'Z') || (f->b >= 'a' && f->b <= 'z')))
            form = 0;
    }
    f->rule = form;
    if (form == 0)
        prof_rust_invalid(x);
    else if (form == RUST_NESTED || form == RUST_GENERIC)
        prof_rust_call(x, 0, RUST_PATH, f->a);
    else
        prof_rust_form(x, f);
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

/*
 * <type>, f->b being its letter: a basic type, or
 *     R, Q  reference         P, O  raw pointer       A  [T; N]     S  [T]
 *     T  tuple                F  function pointer     D  dyn Trait
 *     B  back reference; anything else is a path, a named type
 */
void prof_rust_type(struct rust *x, struct rust_frame *f)
{
    static const uint8_t forms[26] = {
        ['R' - 'A'] = RUST_REFERENCE, ['Q' - 'A'] = RUST_MUT_REFERENCE,
        ['P' - 'A'] = RUST_POINTER,   ['O' - 'A'] = RUST_MUT_POINTER,
        ['A' - 'A'] = RUST_ARRAY,     ['S' - 'A'] = RUST_SLICE,
        ['T' - 'A'] = RUST_TUPLE,     ['F' - 'A'] = RUST_FN_TYPE,
        ['D' - 'A'] = RUST_DYN_TYPE,  ['B' - 'A'] = RUST_TYPE_BACK,
    };
    const char *basic;
    uint8_t form;

    if (!prof_rust_ready(x))
        return;
    form = prof_rust_form_of(x, f, forms);
    basic = basic_type((char)f->b);
    if (basic != NULL) {
        prof_rust_print(x, basic);
        prof_rust_done(x);
        return;
    }
    if (!prof_rust_deeper(x))
        return;
    if (f->b == 0) {
        prof_rust_invalid(x);
        return;
    }
    f->rule = form;
    if (form != 0) {
        prof_rust_form(x, f);
        return;
    }
    x->s--;
    f->rule = RUST_NAMED;
    prof_rust_call(x, 0, RUST_PATH, 0);
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
