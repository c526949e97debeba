/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust's mangling of today (RFC 2603, "v0"): the machine.
 *
 * A name is read twice: once without printing, which tells whether it is one,
 * and once to print it. The first pass does not follow back references and so
 * is linear. In the second, a back reference may lead into the middle of
 * something: then "{invalid syntax}" is printed there, what encloses it prints
 * "?" for what it can no longer read, and all goes on behind the reference.
 * That, and the depth of 500, is what rustc-demangle does.
 */

#include "rust.h"

static rust_rule_fn *const rules[RUST_RULES] = {
    [RUST_PATH] = prof_rust_path,
    [RUST_TYPE] = prof_rust_type,
    [RUST_FN] = prof_rust_fn,
    [RUST_DYN] = prof_rust_dyn,
    [RUST_DYN_TRAIT] = prof_rust_dyn_trait,
    [RUST_OPEN_PATH] = prof_rust_open_path,
    [RUST_ARG] = prof_rust_arg,
    [RUST_CONST] = prof_rust_const,
    [RUST_FIELD] = prof_rust_field,
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

void prof_rust_invalid(struct rust *x)
{
    prof_rust_print(x, "{invalid syntax}");
    x->bad = true;
    x->frame--;
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
    prof_rust_print(x, "{recursion limit reached}");
    x->bad = true;
    x->frame--;
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
        return; /* the machine comes back to (at) at once */
    x->s = x->text + where;
    x->depth++;
    push(x, rule, a);
}

void prof_rust_back_again(struct rust *x, struct rust_frame *f)
{
    if (x->quiet > 0)
        return;
    x->bad = false;
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
        prof_out_string(x->out, s);
}

void prof_rust_print_number(struct rust *x, uint32_t value)
{
    if (x->quiet == 0)
        prof_out_decimal(x->out, value);
}

/* Reads one path from x->s. False: it is none. */
static bool run(struct rust *x, bool checking)
{
    x->frame = x->floor;
    push(x, RUST_PATH, 1);
    while (x->frame != x->floor) {
        if (!prof_out_pay(x->out, 1))
            return !checking;
        rules[x->frame->rule](x, x->frame);
        if (x->failed || (checking && x->bad))
            return false;
    }
    return true;
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

static bool all_ascii(const char *s, const char *end)
{
    for (; s < end; s++)
        if ((unsigned char)*s >= 0x80)
            return false;
    return true;
}

bool prof_rust_v0(struct prof_out *out, const char *name, size_t bytes,
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
        .end = prof_rust_end(name, name + bytes),
        .out = out,
        .floor = frames,
        .ceiling = frames + left / sizeof *frames - 1,
        .characters = characters,
        .quiet = 1,
    };
    if (!all_ascii(name, x->end) || !run(x, true))
        return false;
    if (x->s < x->end && *x->s >= 'A' && *x->s <= 'Z' && !run(x, true))
        return false;
    if (!prof_rust_is_suffix(x->s, x->end))
        return false;
    name = x->s;
    x->s = x->text;
    x->quiet = 0;
    x->depth = 0;
    if (!run(x, false))
        return false;
    if (out->steps > 0)
        prof_out_bytes(out, name, (size_t)(x->end - name));
    return true;
}
