/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: the machine and lists.
 *
 * The output of a short name may be exponentially long, since each substitution
 * may use the one before it twice. The budget of steps limits that; the output
 * so far is then a valid prefix.
 */

#include "demangle/cxx_print.h"

/* A turn takes as long as three nodes that are printed flat. */
#define STEPS_PER_TURN 3u

static struct cxx_item *push(struct cxx *x, const struct cxx_item *from,
                             uint8_t op, uint16_t node)
{
    if (cxx_is_crowded(x))
        x->failed = true;
    else
        x->item--;
    x->item->all = (from->all & 0xffffffff00000000u) | (uint32_t)node << 16 |
                   (uint32_t)(from->flags & CXX_IN_LAMBDA) << 8 | op;
    x->item->aux = 0;
    return x->item;
}

/* Prints the beginning of a list, as far as it is flat; returns the rest. */
static uint16_t print_flat_list(struct cxx *x, uint16_t list)
{
    if (cxx_at(x, list)->flags & CXX_FLAT) {
        prof_cxx_print_flat(x, list);
        return 0;
    }
    while (list != 0) {
        const struct cxx_node *n = cxx_at(x, list);

        if (n->a != 0 && !(cxx_at(x, n->a)->flags & CXX_FLAT))
            break;
        if (n->a != 0)
            prof_cxx_print_flat(x, n->a);
        if (n->b != 0)
            demangle_comma(x->out);
        list = n->b;
    }
    return list;
}

/* Whether a list may end with packs that print nothing. */
static bool may_be_empty(struct cxx *x, uint16_t list)
{
    for (; list != 0; list = cxx_at(x, list)->b) {
        uint8_t kind = cxx_at(x, cxx_at(x, list)->a)->kind;

        if (kind == CXX_LIST || kind == CXX_EXPANSION || kind == CXX_TPARAM)
            return true;
    }
    return false;
}

static bool has_post(const struct cxx_node *n)
{
    if (n->flags & CXX_FLAT)
        return false;
    return (n->kind >= CXX_POINTER && n->kind <= CXX_VECTOR) ||
           n->kind == CXX_TPARAM || cxx_is_fn_qual(n);
}

/* As long as nothing is queued in a turn, what can be printed at once is. */
struct cxx_item *prof_cxx_queue(struct cxx *x, const struct cxx_item *from,
                                uint8_t op, uint16_t node)
{
    const struct cxx_node *n = cxx_at(x, node);

    if (n->flags & CXX_FLAT) {
        if (op == CXX_POST || op == CXX_POST_IF)
            return &x->spare;
        if (op <= CXX_CORE) {
            op = CXX_PRE;
            if ((void *)x->item == x->mark) {
                prof_cxx_print_flat(x, node);
                return &x->spare;
            }
        }
        return push(x, from, op, node);
    }
    if ((op == CXX_BOTH && !has_post(n)) ||
        (op == CXX_CORE && n->kind != CXX_LOCAL))
        op = CXX_PRE;
    if ((void *)x->item == x->mark) {
        if (op == CXX_FN_SPACE) {
            demangle_put_char(x->out, ' ');
            return &x->spare;
        }
        if (op == CXX_POST_IF) /* nothing was left open */
            return &x->spare;
    }
    return push(x, from, op, node);
}

struct cxx_item *prof_cxx_whole(struct cxx *x, const struct cxx_item *from,
                                uint16_t node)
{
    return prof_cxx_queue(x, from, CXX_BOTH, node);
}

struct cxx_item *prof_cxx_queue_qualified(struct cxx *x,
                                          const struct cxx_item *from,
                                          uint16_t node, unsigned waiting)
{
    struct cxx_item *item = cxx_is_cv(cxx_at(x, node))
                                ? push(x, from, CXX_PRE, node)
                                : prof_cxx_queue(x, from, CXX_PRE, node);

    item->flags |= (uint8_t)waiting;
    return item;
}

void prof_cxx_queue_list(struct cxx *x, const struct cxx_item *from,
                         uint16_t list)
{
    uint16_t commas = x->out->commas;

    if ((void *)x->item == x->mark) {
        list = print_flat_list(x, list);
        if (list != 0)
            push(x, from, CXX_LIST_REST, list);
        if (may_be_empty(x, list))
            push(x, from, CXX_LIST_END, 0)->aux = commas;
        else if (list == 0)
            demangle_commas(x->out, commas);
        return;
    }
    if (list != 0)
        push(x, from, CXX_LIST_ALL, list);
}

/* Up to eight bytes of text: six in the first word of the item, two in its
 * last. */
static void push_text(struct cxx *x, const char *text, size_t bytes)
{
    static const struct cxx_item any;
    struct cxx_item *item = push(x, &any, CXX_TEXT, 0);
    uint32_t parts[3] = {0};

    for (size_t n = 0; n < bytes; n++)
        parts[(n + 2) / 4] |= (uint32_t)(unsigned char)text[n]
                              << ((n + 2) % 4 * 8);
    item->all =
        (uint64_t)parts[1] << 32 | parts[0] | (uint32_t)bytes << 8 | CXX_TEXT;
    item->aux = (uint16_t)parts[2];
}

void prof_cxx_text_bytes(struct cxx *x, const char *text, size_t bytes)
{
    if ((void *)x->item == x->mark) {
        demangle_put_bytes(x->out, text, bytes);
        return;
    }
    for (; bytes > 8; bytes -= 8, text += 8)
        push_text(x, text, 8);
    if (bytes > 0)
        push_text(x, text, bytes);
}

void prof_cxx_text(struct cxx *x, const char *text)
{
    prof_cxx_text_bytes(x, text, demangle_length(text));
}

void prof_cxx_numbered(struct cxx *x, const char *before, uint32_t number,
                       const char *after)
{
    demangle_put_string(x->out, before);
    demangle_put_decimal(x->out, number);
    demangle_put_string(x->out, after);
}

/* Turns around what lies between the top and (mark). */
static void turn(struct cxx *x, struct cxx_item *mark)
{
    struct cxx_item *low = x->item;
    struct cxx_item *high = mark - 1;

    while (low < high) {
        struct cxx_item swap = *low;

        *low++ = *high;
        *high-- = swap;
    }
}

static void queue_both(struct cxx *x, const struct cxx_item *it, uint16_t node)
{
    uint16_t open = x->open;

    prof_cxx_queue(x, it, CXX_PRE, node);
    if (has_post(cxx_at(x, node)))
        prof_cxx_queue(x, it, CXX_POST_IF, node)->aux = open;
}

static void list_rest(struct cxx *x, const struct cxx_item *it)
{
    uint16_t list = it->node;
    const struct cxx_node *n;

    if (it->aux)
        demangle_comma(x->out);
    list = print_flat_list(x, list);
    if (list == 0)
        return;
    n = cxx_at(x, list);
    queue_both(x, it, n->a);
    if (n->b != 0)
        push(x, it, CXX_LIST_REST, n->b)->aux = 1;
}

static void pre(struct cxx *x, const struct cxx_item *it)
{
    const struct cxx_node *n = cxx_at(x, it->node);
    uint8_t kind = n->kind;

    if (it->node == 0) {
        x->failed = true;
    } else if ((n->flags & CXX_FLAT) &&
               !((it->flags & CXX_WAITING) && cxx_is_cv(n))) {
        prof_cxx_print_flat(x, it->node);
    } else if (prof_cxx_formats[kind] != NULL) {
        prof_cxx_format(x, it, prof_cxx_formats[kind], n->a, n->b);
    } else if (kind < CXX_LIST) {
        prof_cxx_print_name(x, it);
    } else if (kind == CXX_LIST) {
        prof_cxx_queue_list(x, it, it->node);
    } else if (kind < CXX_FPARAM) {
        prof_cxx_print_type(x, it);
    } else if (kind < CXX_REQUIRES) {
        prof_cxx_print_expr(x, it);
    } else {
        prof_cxx_print_constraint(x, it);
    }
}

static void close(struct cxx *x)
{
    if (x->out->last == '>' && !x->llvm)
        demangle_put_char(x->out, ' ');
    demangle_put_char(x->out, '>');
}

void prof_cxx_queue_open(struct cxx *x, const struct cxx_item *from)
{
    if ((void *)x->item == x->mark)
        cxx_print_open(x);
    else
        push(x, from, CXX_OPEN, 0);
}

void prof_cxx_queue_close(struct cxx *x, const struct cxx_item *from)
{
    if ((void *)x->item == x->mark)
        close(x);
    else
        push(x, from, CXX_CLOSE, 0);
}

static void print_text(struct demangle_buffer *o, const struct cxx_item *it)
{
    uint64_t text = it->all >> 16 | (uint64_t)it->aux << 48;

    for (unsigned n = it->flags; n > 0; n--, text >>= 8)
        demangle_put_char(o, (char)text);
}

static void run(struct cxx *x, const struct cxx_item *it)
{
    switch (it->op) {
    case CXX_PRE:
        pre(x, it);
        break;
    case CXX_BOTH:
        queue_both(x, it, it->node);
        break;
    case CXX_POST_IF:
        if (x->open <= it->aux)
            break; /* fall through */
    case CXX_POST:
        prof_cxx_print_post(x, it);
        break;
    case CXX_TEXT:
        print_text(x->out, it);
        break;
    case CXX_LIST_ALL:
        prof_cxx_queue_list(x, it, it->node);
        break;
    case CXX_LIST_REST:
        list_rest(x, it);
        break;
    case CXX_LIST_END:
        demangle_commas(x->out, it->aux);
        break;
    case CXX_CLOSE:
        close(x);
        break;
    default:
        prof_cxx_print_rare(x, it);
    }
}

bool prof_cxx_print(struct cxx *x, uint16_t root)
{
    static const struct cxx_item start;

    x->mark = x->item;
    queue_both(x, &start, root);
    for (;;) {
        struct cxx_item it;

        if (x->failed && x->out->steps > 0)
            return false;
        turn(x, x->mark);
        if ((void *)x->item == x->floor ||
            !demangle_pay(x->out, STEPS_PER_TURN))
            return true;
        it = *x->item++;
        x->mark = x->item;
        run(x, &it);
    }
}
