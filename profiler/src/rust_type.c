/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust v0: paths, types and what binds lifetimes (RFC 2603, "Syntax of mangled
 * names").
 */

#include "rust.h"

/* C [s<number>_] <ident>: a crate; which version of it is not printed. */
static void crate(struct rust *x)
{
    struct rust_ident ident;
    uint32_t which;

    if (!prof_rust_tagged(x, 's', &which) || !prof_rust_ident(x, &ident)) {
        prof_rust_invalid(x);
        return;
    }
    prof_rust_print_ident(x, &ident);
    prof_rust_leave(x);
}

/* After N <namespace> <path>: its last part. Closures and shims have a number
 * and are in a namespace with a capital letter. */
static bool last_part(struct rust *x, char namespace)
{
    char letter[2] = {namespace, 0};
    struct rust_ident ident;
    uint32_t which;
    bool named;

    if (!prof_rust_tagged(x, 's', &which) || !prof_rust_ident(x, &ident))
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
        prof_out_bytes(x->out, "::", 2);
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

/* Most paths are a crate and a few names: NvNtNtC5crate..., the namespaces
 * first. Those need no frames. False: this is another one. */
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
    if (!prof_rust_tagged(x, 's', &which) || !prof_rust_ident(x, &ident)) {
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

/* First turn of a path; f->b is its letter. */
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

/* L <lifetime>, K <const>, or a type */
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

/* R, Q: & and &mut, with a lifetime unless it is '_. */
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

/* K C, or K <ident> in which '_' stands for '-'. */
static bool abi(struct rust *x)
{
    struct rust_ident ident;

    if (prof_rust_eat(x, 'C')) {
        prof_rust_print(x, "extern \"C\" ");
        return true;
    }
    if (!prof_rust_ident(x, &ident) || ident.ascii_bytes == 0 ||
        ident.puny_bytes > 0)
        return false;
    prof_rust_print(x, "extern \"");
    for (uint16_t i = 0; i < ident.ascii_bytes && x->quiet == 0; i++)
        prof_out_char(x->out, ident.ascii[i] == '_' ? '-' : ident.ascii[i]);
    prof_rust_print(x, "\" ");
    return true;
}

/* [G<number>] [U] [K <abi>] <type>* E <type>; f->a lifetimes bound here */
void prof_rust_fn(struct rust *x, struct rust_frame *f)
{
    switch (f->at) {
    case 0:
        if (!prof_rust_binder(x, &f->a)) {
            prof_rust_invalid(x);
            return;
        }
        if (prof_rust_eat(x, 'U'))
            prof_rust_print(x, "unsafe ");
        if (prof_rust_eat(x, 'K') && !abi(x)) {
            x->binders -= f->a;
            prof_rust_invalid(x);
            return;
        }
        prof_rust_print(x, "fn("); /* fall through */
    case 1:
        if (prof_rust_list(x, f, 1, RUST_TYPE, 0, ", "))
            return;
        prof_rust_print(x, ")");
        if (!prof_rust_eat(x, 'u')) {
            prof_rust_print(x, " -> ");
            prof_rust_call(x, 2, RUST_TYPE, 0);
            return;
        } /* fall through */
    default:
        x->binders -= f->a;
        prof_rust_done(x);
    }
}

/* [G<number>] <trait>* E L <lifetime> */
void prof_rust_dyn(struct rust *x, struct rust_frame *f)
{
    uint32_t lifetime;

    if (f->at == 0) {
        prof_rust_print(x, "dyn ");
        if (!prof_rust_binder(x, &f->a)) {
            prof_rust_invalid(x);
            return;
        }
    }
    if (prof_rust_list(x, f, 1, RUST_DYN_TRAIT, 0, " + "))
        return;
    x->binders -= f->a;
    if (!prof_rust_eat(x, 'L') || !prof_rust_number(x, &lifetime)) {
        prof_rust_invalid(x);
        return;
    }
    if (lifetime != 0) {
        prof_rust_print(x, " + ");
        if (!prof_rust_lifetime(x, lifetime)) {
            prof_rust_unbound(x);
            return;
        }
    }
    prof_rust_done(x);
}

/* <path> { p <ident> <type> }: Trait<Arguments, Name = Type> */
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

/* A path whose arguments, if it has any, are not closed: x->open. */
void prof_rust_open_path(struct rust *x, struct rust_frame *f)
{
    switch (f->at) {
    case 0:
        if (prof_rust_eat(x, 'B')) {
            x->open = false;
            prof_rust_back(x, f, 3, RUST_OPEN_PATH, 0);
        } else if (prof_rust_eat(x, 'I')) {
            prof_rust_call(x, 1, RUST_PATH, 0);
        } else {
            prof_rust_call(x, 4, RUST_PATH, 0);
        }
        return;
    case 1:
        prof_rust_print(x, "<"); /* fall through */
    case 2:
        if (prof_rust_list(x, f, 2, RUST_ARG, 0, ", "))
            return;
        x->open = true;
        prof_rust_done(x);
        return;
    case 3:
        prof_rust_back_again(x, f);
        prof_rust_done(x);
        return;
    default:
        x->open = false;
        prof_rust_done(x);
    }
}
