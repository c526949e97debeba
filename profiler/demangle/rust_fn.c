/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust v0: function types and trait objects, both of which may bind lifetimes
 * (RFC 2603, "Syntax of mangled names").
 */

#include "demangle/rust.h"

/* <abi> = "C" | <undisambiguated-identifier>, after the "K". The identifier
 * has '_' for each '-' of the ABI's name, such as "system-unwind". */
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
        demangle_put_char(x->out, ident.ascii[i] == '_' ? '-' : ident.ascii[i]);
    prof_rust_print(x, "\" ");
    return true;
}

/* <fn-sig> ::= [<binder>] ["U"] ["K" <abi>] {<type>} "E" <type>
 * f->a: lifetimes bound here. A return type of () is not printed. */
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

/* <dyn-bounds> ::= [<binder>] {<dyn-trait>} "E", then <lifetime> */
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

/* A <path> whose generic arguments are left open for more (x->open). */
void prof_rust_open_path(struct rust *x, struct rust_frame *f)
{
    prof_rust_go_on(x, f,
                    prof_rust_eat(x, 'B')   ? RUST_OPEN_BACK
                    : prof_rust_eat(x, 'I') ? RUST_OPEN_GENERIC
                                            : RUST_OPEN_OTHER);
}
