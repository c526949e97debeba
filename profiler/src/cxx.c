/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names: what stands around the grammar. Lays out the workspace, reads
 * "_Z", the clone suffixes that compilers append, and the older
 * "_GLOBAL__I_..." names of what runs before and after main().
 */

#include "cxx.h"
#include "demangle_languages.h"

/* One ".isra.0": letters or digits, then numbers; where it ends. */
static const char *clone_end(const char *s)
{
    if ((s[1] >= 'a' && s[1] <= 'z') || s[1] == '_' ||
        (s[1] >= '0' && s[1] <= '9')) {
        s += 2;
        while ((*s >= 'a' && *s <= 'z') || *s == '_' ||
               (*s >= '0' && *s <= '9'))
            s++;
    }
    while (*s == '.' && s[1] >= '0' && s[1] <= '9') {
        s += 2;
        while (*s >= '0' && *s <= '9')
            s++;
    }
    return s;
}

static uint16_t leaf(struct cxx *x, const char *from, const char *to)
{
    x->nodes[x->node_count] = (struct cxx_node){
        .kind = CXX_NAME,
        .a = (uint16_t)(from - x->text),
        .b = (uint16_t)(to - from),
    };
    return x->node_count++;
}

static uint16_t clone(struct cxx *x, uint16_t root, const char *to)
{
    uint16_t text = leaf(x, x->s, to);

    x->nodes[x->node_count] =
        (struct cxx_node){.kind = CXX_CLONE, .a = root, .b = text};
    x->s = to;
    return x->node_count++;
}

/* Everything behind the encoding, which must end there. */
static uint16_t suffixes(struct cxx *x, uint16_t root)
{
    while (!x->llvm && *x->s == '.') {
        const char *to = clone_end(x->s);

        if (to == x->s || x->node_count > 0xfff0 ||
            (char *)&x->nodes[x->node_count + 4] > (char *)x->floor) {
            x->llvm = true;
            break;
        }
        root = clone(x, root, to);
    }
    if (*x->s == '.')
        root = clone(x, root, x->end);
    return *x->s == 0 ? root : 0;
}

static void lay_out(struct cxx *x, void *work, size_t bytes)
{
    x->nodes = (struct cxx_node *)(void *)(x + 1);
    x->subs = (uint16_t *)(void *)((char *)work + bytes) - CXX_SUBS_MAX;
    x->floor = x->subs;
    x->frame = x->floor;
    x->node_count = 1; /* 0 is no node */
}

static bool try(struct cxx *x, void *work, size_t work_bytes)
{
    uint16_t root;

    lay_out(x, work, work_bytes);
    root = prof_cxx_parse(x);
    if (root != 0)
        root = suffixes(x, root);
    if (root == 0)
        return false;
    x->floor = (char *)work + work_bytes;
    x->item = x->floor;
    return prof_cxx_print(x, root);
}

bool prof_cxx(struct prof_out *out, const char *name, size_t bytes, void *work,
              size_t work_bytes)
{
    struct cxx *x = work;

    if (name[0] != '_' || name[1] != 'Z')
        return false;
    *x = (struct cxx){.text = name, .s = name + 2, .end = name + bytes,
                      .out = out};
    if (try(x, work, work_bytes))
        return true;
    if (!x->retry)
        return false;
    prof_out_restart(out);
    *x = (struct cxx){.text = name, .s = name + 2, .end = name + bytes,
                      .out = out, .strict = true};
    return try(x, work, work_bytes);
}
