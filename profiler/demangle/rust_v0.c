/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust's v0 mangling (RFC 2603): the machine.
 *
 * A name is valid or not regardless of its back references. If one leads into
 * the middle of something, "{invalid syntax}" is printed there, enclosing rules
 * print "?" for what they can no longer parse, and parsing continues after the
 * reference. This, and the nesting limit of 500, follows rustc-demangle.
 *
 * rustc-demangle parses twice, first to check and then to print. Here a name is
 * printed at once. It is parsed again, without printing, only if that ended
 * early: no room or budget left, or an unbound lifetime.
 */

#include "demangle/rust.h"

static rust_rule_fn *const rules[RUST_FORMS + 1] = {
    [RUST_PATH] = prof_rust_path,
    [RUST_TYPE] = prof_rust_type,
    [RUST_FN] = prof_rust_fn,
    [RUST_DYN] = prof_rust_dyn,
    [RUST_DYN_TRAIT] = prof_rust_dyn_trait,
    [RUST_OPEN_PATH] = prof_rust_open_path,
    [RUST_ARG] = prof_rust_arg,
    [RUST_CONST] = prof_rust_const,
    [RUST_FIELD] = prof_rust_field,
    [RUST_FORMS] = prof_rust_form,
};

static void push(struct rust *x, uint8_t rule, uint16_t a)
{
    if (x->frame == x->ceiling) {
        x->failed = true;
        return;
    }
    x->frame++;
    *x->frame = (struct rust_frame){.rule = rule, .a = a};
}

void prof_rust_call(struct rust *x, uint8_t at, uint8_t rule, uint16_t a)
{
    x->frame->at = at;
    push(x, rule, a);
}

void prof_rust_become(struct rust *x, uint8_t rule, uint16_t a)
{
    *x->frame = (struct rust_frame){.rule = rule, .a = a};
}

void prof_rust_done(struct rust *x)
{
    x->frame--;
}

void prof_rust_leave(struct rust *x)
{
    if (!x->bad)
        x->depth--;
    x->frame--;
}

static void stop(struct rust *x, const char *why)
{
    prof_rust_print(x, why);
    x->bad = true;
    x->frame--;
}

void prof_rust_invalid(struct rust *x)
{
    if (x->backs == 0)
        x->failed = true;
    stop(x, "{invalid syntax}");
}

void prof_rust_unbound(struct rust *x)
{
    stop(x, "{invalid syntax}");
}

bool prof_rust_ready(struct rust *x)
{
    if (!x->bad)
        return true;
    prof_rust_print(x, "?");
    x->frame--;
    return false;
}

bool prof_rust_deeper(struct rust *x)
{
    if (++x->depth <= RUST_DEPTH)
        return true;
    if (x->backs == 0)
        x->failed = true;
    stop(x, "{recursion limit reached}");
    return false;
}

void prof_rust_back(struct rust *x, struct rust_frame *f, uint8_t at,
                    uint8_t rule, uint16_t a)
{
    const char *from = x->s - 1;
    uint32_t where;

    if (!prof_rust_number(x, &where) || where >= (uint32_t)(from - x->text)) {
        prof_rust_invalid(x);
        return;
    }
    if (x->depth >= RUST_DEPTH) {
        prof_rust_deeper(x);
        return;
    }
    f->b = x->depth;
    f->c = (uint16_t)(x->s - x->text);
    f->at = at;
    if (x->quiet > 0)
        return; /* continue in state (at) at once */
    x->s = x->text + where;
    x->depth++;
    x->backs++;
    push(x, rule, a);
}

void prof_rust_back_again(struct rust *x, struct rust_frame *f)
{
    if (x->quiet > 0)
        return;
    x->bad = false;
    x->backs--;
    x->depth = f->b;
    x->s = x->text + f->c;
}

bool prof_rust_list(struct rust *x, struct rust_frame *f, uint8_t at,
                    uint8_t rule, uint16_t a, const char *between)
{
    if (x->bad || prof_rust_eat(x, 'E'))
        return false;
    if (f->c > 0)
        prof_rust_print(x, between);
    f->c++;
    prof_rust_call(x, at, rule, a);
    return true;
}

void prof_rust_print(struct rust *x, const char *s)
{
    if (x->quiet == 0)
        demangle_put_string(x->out, s);
}

void prof_rust_print_number(struct rust *x, uint32_t value)
{
    if (x->quiet == 0)
        demangle_put_decimal(x->out, value);
}

/* Parses one <path> from x->s. (checking): nothing is printed and no back
 * reference followed, so it is linear and costs no budget. False: it is
 * invalid, or room or budget are exhausted. */
static bool run(struct rust *x, bool checking)
{
    unsigned rule;

    x->frame = x->floor;
    x->quiet = checking;
    x->depth = 0;
    x->backs = 0;
    x->bad = false;
    push(x, RUST_PATH, 1);
    while (x->frame != x->floor) {
        if (!checking &&
            (x->out->length > x->out->room || !demangle_pay(x->out, 1)))
            return false;
        rule = x->frame->rule;
        rules[rule < RUST_FORMS ? rule : RUST_FORMS](x, x->frame);
        if (x->failed)
            return false;
    }
    return !x->bad;
}

const char *prof_rust_end(const char *name, const char *end)
{
    static const char mark[] = ".llvm.";
    const unsigned length = sizeof mark - 1;

    for (const char *s = name; end - s >= (ptrdiff_t)length; s++) {
        const char *rest = s + length;

        if (*s != '.' || __builtin_memcmp(s, mark, length) != 0)
            continue;
        while (rest < end && ((*rest >= '0' && *rest <= '9') || *rest == '@' ||
                              (*rest >= 'A' && *rest <= 'F')))
            rest++;
        return rest == end ? s : end;
    }
    return end;
}

bool prof_rust_is_suffix(const char *s, const char *end)
{
    if (s == end)
        return true;
    if (*s != '.')
        return false;
    for (; s < end; s++)
        if (*s <= ' ' || *s >= 0x7f)
            return false;
    return true;
}

/* <symbol-name> ::= "_R" <path> [<instantiating-crate>], the crate being a
 * path that is not printed, and then a vendor-specific suffix, which is. */
bool prof_rust_v0(struct demangle_buffer *out, const char *name, size_t bytes,
                  void *work, size_t work_bytes)
{
    struct rust *x = work;
    uint32_t *characters = (uint32_t *)(void *)(x + 1);
    struct rust_frame *frames =
        (struct rust_frame *)(void *)(characters + RUST_PUNYCODE);
    size_t left = work_bytes - (size_t)((char *)frames - (char *)work);

    if (bytes < 4 || name[0] != '_' || name[1] != 'R' || name[2] < 'A' ||
        name[2] > 'Z')
        return false;
    *x = (struct rust){
        .text = name + 2,
        .s = name + 2,
        .end = name + bytes,
        .out = out,
        .floor = frames,
        .ceiling = frames + left / sizeof *frames - 1,
        .characters = characters,
    };
    if (!run(x, false)) {
        x->s = x->text;
        if (x->failed || !run(x, true))
            return false;
    }
    if (x->s < x->end && *x->s >= 'A' && *x->s <= 'Z' && !run(x, true))
        return false;
    x->end = prof_rust_end(x->s, x->end);
    if (!prof_rust_is_suffix(x->s, x->end))
        return false;
    if (out->steps > 0 && out->length <= out->room)
        demangle_put_bytes(out, x->s, (size_t)(x->end - x->s));
    return true;
}
