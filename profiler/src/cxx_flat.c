/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printing: what needs no environment.
 *
 * Most of a name is names of classes, templates of them and pointers to them:
 * no template parameter, no lambda, no second half. Such a node (CXX_FLAT)
 * reads the same wherever it stands, so it is printed here at one go. What
 * waits is the nodes that are still to be visited again, two bytes each, below
 * the stack of items.
 *
 * Text is written in words of 16 bytes, the surplus of which is overwritten by
 * what follows, as long as there are as many bytes to read and to write.
 */

#include "cxx_print.h"

#define WORD 16u

/* A node's number is below 1024, for the workspace holds no more. */
#define CLOSE 0x8000u /* waits: '>' and nothing else */

/* The output while it is in registers; brought back by pen_up(). */
struct pen {
    struct prof_out *out;
    char *to;
    size_t at;
    size_t room;
    uint32_t steps;
};

static inline struct pen pen_down(struct prof_out *o)
{
    return (struct pen){.out = o,
                        .to = o->to,
                        .at = o->length,
                        .room = o->room,
                        .steps = o->steps};
}

static inline void pen_up(const struct pen *p)
{
    struct prof_out *o = p->out;

    o->length = (uint32_t)p->at;
    o->steps = p->steps;
    if (p->at > 0 && p->at <= o->room)
        o->last = p->to[p->at - 1];
}

/* Near the end of the buffer or of the name, or a long text. */
static struct pen slow(struct pen p, const char *s, size_t n)
{
    pen_up(&p);
    prof_out_bytes(p.out, s, n);
    return pen_down(p.out);
}

static inline void word(char *to, const char *s)
{
    __builtin_memcpy(to, s, WORD);
}

/* Writes (n) of the (readable) bytes at (s). */
static inline void put(struct pen *p, const char *s, size_t n, size_t readable)
{
    char *to = p->to + p->at;
    size_t whole = n <= WORD ? WORD : 2 * WORD;

    if (n > 2 * WORD || whole > readable || p->at + whole > p->room) {
        *p = slow(*p, s, n);
        return;
    }
    word(to, s);
    if (n > WORD)
        word(to + WORD, s + WORD);
    p->at += n;
}

/* Text of a table's field, whose size is known. */
#define PUT(p, field, n) put(p, field, n, sizeof(field))

static inline void put_pair(struct pen *p, char first, char second)
{
    char text[2] = {first, second};

    if (p->at + 2 > p->room) {
        *p = slow(*p, text, 2);
        return;
    }
    p->to[p->at] = first;
    p->to[p->at + 1] = second;
    p->at += 2;
}

static inline void put_char(struct pen *p, char c)
{
    if (p->at >= p->room)
        *p = slow(*p, &c, 1);
    else
        p->to[p->at++] = c;
}

static char last(const struct pen *p)
{
    return p->at <= p->room ? p->to[p->at - 1] : p->out->last;
}

static inline void put_name(const struct cxx *x, struct pen *p,
                            const struct cxx_node *n)
{
    put(p, x->text + n->a, n->b, (size_t)(x->end - x->text) - n->a);
}

static void put_std(struct pen *p, const struct cxx_node *n)
{
    const struct cxx_std *name = &prof_cxx_std[n->a];

    if (n->b)
        PUT(p, name->full, name->full_bytes);
    else
        PUT(p, name->name, name->name_bytes);
}

static void put_structor(const struct cxx *x, struct pen *p,
                         const struct cxx_node *n)
{
    const struct cxx_node *base = cxx_at(x, n->a);

    if (n->kind == CXX_DTOR)
        put_char(p, '~');
    if (base->kind == CXX_STD)
        PUT(p, prof_cxx_std[base->a].base, prof_cxx_std[base->a].base_bytes);
    else
        put_name(x, p, base);
}

/* An integer with its suffix, or false or true. */
static void put_literal(const struct cxx *x, struct pen *p,
                        const struct cxx_node *n)
{
    const struct cxx_builtin *type = &prof_cxx_builtins[cxx_at(x, n->a)->a];
    const struct cxx_node *value = cxx_at(x, n->b);

    if (type->print == CXX_AS_BOOL) {
        bool no = x->text[value->a] == '0';

        *p = slow(*p, no ? "false" : "true", no ? 5 : 4);
        return;
    }
    if (n->c)
        put_char(p, '-');
    put_name(x, p, value);
    for (const char *s = type->suffix; *s != 0; s++)
        put_char(p, *s);
}

static void put_builtin(const struct cxx *x, struct pen *p,
                        const struct cxx_node *n)
{
    const struct cxx_builtin *type = &prof_cxx_builtins[n->a];

    if (x->llvm && n->a == CXX_NULLPTR)
        *p = slow(*p, "std::nullptr_t", 14);
    else
        PUT(p, type->name, type->bytes);
}

/* Prints what has no parts to be visited; false: it has. */
static inline bool put_leaf(const struct cxx *x, struct pen *p,
                            const struct cxx_node *n)
{
    switch (n->kind) {
    case CXX_NAME:
        put_name(x, p, n);
        return true;
    case CXX_WORD:
        PUT(p, prof_cxx_words[n->a].text, prof_cxx_words[n->a].bytes);
        return true;
    case CXX_STD:
        put_std(p, n);
        return true;
    case CXX_CTOR:
    case CXX_DTOR:
        put_structor(x, p, n);
        return true;
    case CXX_BUILTIN:
        put_builtin(x, p, n);
        return true;
    case CXX_LITERAL:
        put_literal(x, p, n);
        return true;
    default:
        return false;
    }
}

/* What stands behind a pointer, reference or qualified type. */
static void put_suffix(struct pen *p, uint8_t kind)
{
    static const char text[][WORD] = {"*",      "&",         "&&",
                                      " const", " volatile", " restrict"};
    static const uint8_t bytes[] = {1, 1, 2, 6, 9, 9};

    PUT(p, text[kind - CXX_POINTER], bytes[kind - CXX_POINTER]);
}

static inline void put_close(const struct cxx *x, struct pen *p)
{
    if (last(p) == '>' && !x->llvm)
        put_char(p, ' ');
    put_char(p, '>');
}

/* Between or behind the parts of a node, the first of which is printed. Returns
 * the part to go on with, or 0. */
static inline uint16_t put_between(const struct cxx *x, struct pen *p,
                                   uint16_t **waiting)
{
    uint16_t node = *(*waiting)++;
    const struct cxx_node *n = cxx_at(x, node & (CLOSE - 1));

    switch (n->kind) {
    case CXX_QUAL:
        put_pair(p, ':', ':');
        return n->b;
    case CXX_LIST:
        put_pair(p, ',', ' ');
        return n->b;
    case CXX_TEMPLATE:
        if (node & CLOSE) {
            put_close(x, p);
            return 0;
        }
        put_char(p, '<');
        *--*waiting = node | CLOSE;
        return n->b;
    default:
        put_suffix(p, n->kind);
        return 0;
    }
}

/* The node to be printed after a leaf, 0 for none. */
static inline uint16_t next(const struct cxx *x, struct pen *p,
                            uint16_t **waiting)
{
    uint16_t node = 0;

    while (node == 0 && (void *)*waiting != x->item)
        node = put_between(x, p, waiting);
    return node;
}

void prof_cxx_print_flat(struct cxx *x, uint16_t node)
{
    uint16_t *bottom = (uint16_t *)(void *)cxx_at(x, x->node_count);
    uint16_t *waiting = (uint16_t *)(void *)x->item;
    struct pen p;

    prof_out_flush(x->out);
    p = pen_down(x->out);
    while (node != 0) {
        const struct cxx_node *n = cxx_at(x, node);

        if (put_leaf(x, &p, n)) {
            node = next(x, &p, &waiting);
            continue;
        }
        if (p.steps == 0) {
            pen_up(&p);
            prof_out_stop(x->out);
            return;
        }
        p.steps--;
        if (waiting == bottom) {
            x->failed = true;
            return;
        }
        if (n->kind != CXX_LIST || n->b != 0)
            *--waiting = node;
        node = n->a;
    }
    pen_up(&p);
}
