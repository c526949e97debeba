/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: nodes that need no environment.
 *
 * Most of a name is names of classes, templates of them and pointers to them,
 * without a template parameter, a lambda or a second half. The text of such a
 * node (CXX_FLAT) does not depend on the context, so it is printed here in one
 * go, by a depth-first walk. Nodes to be visited again are on a small stack of
 * two bytes each, below the stack of items.
 *
 * Text is written in words of 16 bytes, the surplus of which is overwritten by
 * what follows, as long as there are as many bytes to read and to write.
 */

#include "demangle/cxx_print.h"

#define WORD 16

/* A node's number is below 1024, for the workspace holds no more. */
#define CLOSE 0x8000u /* waits: '>' and nothing else */

/* The output position, kept in registers; its address must not be taken, or it
 * would live in memory. Written back by pen_up(). */
struct pen {
    struct demangle_buffer *out;
    char *to;
    ptrdiff_t at;
    ptrdiff_t whole; /* up to here a whole word may be written */
    ptrdiff_t name;  /* up to here one may be read from the name */
    uint32_t steps;
};

static inline struct pen pen_down(const struct cxx *x)
{
    const struct demangle_buffer *o = x->out;

    return (struct pen){.out = x->out,
                        .to = o->to,
                        .at = (ptrdiff_t)o->length,
                        .whole = (ptrdiff_t)o->room - WORD,
                        .name = x->end - x->text - WORD,
                        .steps = o->steps};
}

static void pen_up(struct demangle_buffer *o, ptrdiff_t at, uint32_t steps)
{
    o->length = (uint32_t)at;
    o->steps = steps;
    if (o->length > 0 && o->length <= o->room)
        o->last = o->to[at - 1];
}

static __attribute__((noinline)) ptrdiff_t hand_over(struct demangle_buffer *o,
                                                     ptrdiff_t at,
                                                     uint32_t steps,
                                                     const char *s, size_t n)
{
    pen_up(o, at, steps);
    demangle_put_bytes(o, s, n);
    return (ptrdiff_t)o->length;
}

/* The slow path: near the end of the buffer or of the name, or a long text.
 * Once output is lost its exact length no longer matters. */
static inline void slow(struct pen *p, const char *s, size_t n)
{
    if (p->at > p->whole + WORD)
        return;
    p->at = hand_over(p->out, p->at, p->steps, s, n);
    p->steps = p->out->steps;
}

/* Writes (n) bytes; a whole word is there to read. */
static inline void put_text(struct pen *p, const char *s, size_t n)
{
    if (n <= WORD && p->at <= p->whole) {
        __builtin_memcpy(p->to + p->at, s, WORD);
        p->at += (ptrdiff_t)n;
    } else {
        slow(p, s, n);
    }
}

static inline void put_char(struct pen *p, char c)
{
    if (p->at <= p->whole)
        p->to[p->at++] = c;
    else
        slow(p, &c, 1);
}

static inline void put_name(const struct cxx *x, struct pen *p,
                            const struct cxx_node *n)
{
    const char *s = x->text + n->a;

    if (n->a <= p->name) {
        put_text(p, s, n->b);
    } else if (n->b <= WORD && p->at <= p->whole) {
        demangle_copy(p->to + p->at, s, n->b);
        p->at += n->b;
    } else {
        slow(p, s, n->b);
    }
}

static void put_structor(const struct cxx *x, struct pen *p,
                         const struct cxx_node *n)
{
    const struct cxx_node *base = cxx_at(x, n->a);

    if (n->kind == CXX_DTOR)
        put_char(p, '~');
    if (base->kind == CXX_STD)
        put_text(p, cxx_std[base->a].base, cxx_std[base->a].base_bytes);
    else
        put_name(x, p, base);
}

/* An integer with its suffix, or false or true. */
static void put_literal(const struct cxx *x, struct pen *p,
                        const struct cxx_node *n)
{
    const struct cxx_builtin *type = &cxx_builtins[cxx_at(x, n->a)->a];
    const struct cxx_node *value = cxx_at(x, n->b);

    if (type->print == CXX_AS_BOOL) {
        bool no = x->text[value->a] == '0';

        slow(p, no ? "false" : "true", no ? 5 : 4);
        return;
    }
    if (n->c)
        put_char(p, '-');
    put_name(x, p, value);
    for (const char *s = type->suffix; *s != 0; s++)
        put_char(p, *s);
}

/* What is in a table: its row has a whole word to read. */
static DEMANGLE_SHARED void put_leaf(const struct cxx *x, struct pen *p,
                                     const struct cxx_node *n)
{
    static const char nullptr_t[WORD] = "std::nullptr_t";
    const char *s;
    size_t bytes;

    if (n->kind == CXX_WORD) {
        s = cxx_words[n->a].text;
        bytes = cxx_words[n->a].bytes;
    } else if (n->kind == CXX_STD) {
        const struct cxx_std *name = &cxx_std[n->a];

        s = n->b ? name->full : name->name;
        bytes = n->b ? name->full_bytes : name->name_bytes;
    } else if (n->kind == CXX_BUILTIN) {
        bool llvm = x->llvm && n->a == CXX_NULLPTR;

        s = llvm ? nullptr_t : cxx_builtins[n->a].name;
        bytes = llvm ? 14 : cxx_builtins[n->a].bytes;
    } else if (n->kind == CXX_LITERAL) {
        put_literal(x, p, n);
        return;
    } else {
        put_structor(x, p, n);
        return;
    }
    put_text(p, s, bytes);
}

static inline void put_close(const struct cxx *x, struct pen *p)
{
    char last = p->at - 1 < p->whole + WORD ? p->to[p->at - 1] : p->out->last;

    if (last == '>' && !x->llvm)
        put_char(p, ' ');
    put_char(p, '>');
}

/* The text between the two parts of a node, or after the only one. */
struct mark {
    uint8_t bytes;
    char text[WORD];
};

static const struct mark marks[] = {
    [CXX_QUAL] = {2, "::"},
    [CXX_TEMPLATE] = {1, "<"},
    [CXX_LIST] = {2, ", "},
    [CXX_POINTER] = {1, "*"},
    [CXX_LREF] = {1, "&"},
    [CXX_RREF] = {2, "&&"},
    [CXX_CONST] = {6, " const"},
    [CXX_VOLATILE] = {9, " volatile"},
    [CXX_RESTRICT] = {9, " restrict"},
};

/* Pops pending nodes until one has another part to be printed; returns that
 * part, or 0. */
static inline uint32_t ascend(const struct cxx *x, struct pen *p,
                              uint16_t **waiting, const uint16_t *top)
{
    uint32_t node = 0;

    while (node == 0 && *waiting != top) {
        uint32_t at = *(*waiting)++;
        const struct cxx_node *n = cxx_at(x, at & (CLOSE - 1));

        if (at & CLOSE) {
            put_close(x, p);
        } else {
            put_text(p, marks[n->kind].text, marks[n->kind].bytes);
            node = n->b; /* 0 for a pointer and its like */
        }
    }
    return node;
}

/* Descends to the first leaf of (node), which is not 0, and pushes all nodes
 * above it. 0: no steps or no room left. */
static inline uint32_t descend(struct cxx *x, struct pen *p, uint32_t node,
                               uint16_t **waiting)
{
    const uint16_t *bottom = (const uint16_t *)cxx_at(x, x->node_count);
    const struct cxx_node *n = cxx_at(x, node);

    for (; !(n->flags & CXX_LEAF); n = cxx_at(x, node)) {
        if (p->steps == 0)
            return 0;
        p->steps--;
        if (*waiting < bottom + 2) {
            x->failed = true;
            return 0;
        }
        (*waiting)[-1] = node | CLOSE;
        *waiting -= n->kind == CXX_TEMPLATE;
        (*waiting)[-1] = node;
        *waiting -= n->kind != CXX_LIST || n->b != 0;
        node = n->a;
    }
    return node;
}

void cxx_print_flat(struct cxx *x, uint32_t node)
{
    uint16_t *const top = (uint16_t *)(void *)x->item;
    uint16_t *waiting = top;
    struct pen p;

    if (x->out->commas > 0)
        demangle_flush(x->out);
    p = pen_down(x);
    do {
        const struct cxx_node *n;

        node = descend(x, &p, node, &waiting);
        if (node == 0) {
            pen_up(p.out, p.at, p.steps);
            demangle_stop(x->out);
            return;
        }
        n = cxx_at(x, node);
        if (n->kind == CXX_NAME)
            put_name(x, &p, n);
        else
            put_leaf(x, &p, n);
        node = ascend(x, &p, &waiting, top);
    } while (node != 0);
    pen_up(p.out, p.at, p.steps);
}
