/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names: everything outside the grammar of the Itanium ABI. Lays out the
 * workspace, and reads "_Z", the clone suffixes that compilers append, such as
 * ".isra.0", and the old "_GLOBAL__I_..." names of functions that run before
 * and after main().
 *
 * A name is parsed at most twice: GNU and the ABI count substitutions
 * differently, so a name that fails GNU's way is read again the ABI's way.
 */

#include "demangle/cxx.h"
#include "demangle/languages.h"

static const char *digits_end(const char *s)
{
    while (*s >= '0' && *s <= '9')
        s++;
    return s;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9');
}

/* The end of one clone suffix such as ".isra.0" or ".part.1.2": a word, then
 * numbers, as GNU's d_clone_suffix() reads it. (s) if there is none. */
static const char *clone_end(const char *s)
{
    if (is_word(s[1]))
        for (s++; is_word(*s); s++)
            ;
    while (*s == '.' && digits_end(s + 1) != s + 1)
        s = digits_end(s + 1);
    return s;
}

static uint32_t leaf(struct cxx *x, const char *from, const char *to)
{
    return cxx_node(x, CXX_IS(CXX_NAME, CXX_FLAT_LEAF), from - x->text,
                    to - from, 0);
}

static uint32_t clone(struct cxx *x, uint32_t root, const char *to)
{
    uint32_t text = leaf(x, x->s, to);

    x->s = to;
    return cxx_node(x, CXX_CLONE, root, text, 0);
}

/* Suffixes after the encoding, up to the end of the name. GNU lists them one by
 * one; LLVM prints whatever follows the first '.' as one. 0: something else
 * follows. */
static uint32_t suffixes(struct cxx *x, uint32_t root)
{
    while (!x->llvm && *x->s == '.') {
        const char *to = clone_end(x->s);

        if (to == x->s)
            x->llvm = true;
        else
            root = clone(x, root, to);
    }
    if (*x->s == '.')
        root = clone(x, root, x->end);
    return *x->s == 0 ? root : 0;
}

/* Divides the workspace as drawn in cxx.h. */
static void lay_out(struct cxx *x, void *end)
{
    x->subs = (uint16_t *)end - CXX_SUBS_MAX;
    x->floor = x->subs;
    x->frame = x->floor;
    x->nodes[0] = (struct cxx_node){.kind = CXX_NONE}; /* no node */
    x->node_count = 1;
}

/* Skips "_GLOBAL__I_" or "_GLOBAL__D_", which GCC puts before the names of
 * functions that run static constructors and destructors. Returns the special
 * to print for it, or 0. */
static DEMANGLE_SHARED uint32_t take_global(struct cxx *x)
{
    const char *s = x->s;
    char letter = s[1] == 'G' ? cxx_global(s, (size_t)(x->end - s)) : 0;

    if ((letter != 'I' && letter != 'D') || s[10] != '_')
        return 0;
    x->s += 11;
    return letter == 'I' ? CXX_S_CONSTRUCTORS : CXX_S_DESTRUCTORS;
}

/* Skips "___Z" or "____Z", the prefix of the functions that clang makes of
 * blocks. */
static bool take_block(struct cxx *x)
{
    const char *s = x->s;

    if (s[0] != '_' || s[1] != '_' || s[2] != '_')
        return false;
    s += s[3] == '_' ? 4 : 3;
    if (*s != 'Z')
        return false;
    x->s = s + 1;
    x->block = true;
    x->llvm = true;
    return true;
}

/* Skips "_block_invoke", "_block_invoke_2" or "_block_invoke2", and a suffix
 * that begins with '.'. */
static bool take_invoke(struct cxx *x)
{
    const char *text = "_block_invoke";

    for (; *text != 0; text++)
        if (*x->s++ != *text)
            return false;
    if (*x->s == '_') {
        x->s++;
        if (digits_end(x->s) == x->s)
            return false;
    }
    x->s = digits_end(x->s);
    if (*x->s == '.')
        x->s = x->end;
    return true;
}

static uint32_t wrap(struct cxx *x, uint32_t special, uint32_t root)
{
    return cxx_node(x, CXX_SPECIAL, root, 0, special);
}

/* Parses the whole name. <mangled-name> ::= _Z <encoding>
 * [. <vendor-specific suffix>]. 0: it is not mangled. */
static uint32_t read_name(struct cxx *x)
{
    uint32_t special = take_global(x);
    uint32_t root;

    if (special != 0 && (x->s[0] != '_' || x->s[1] != 'Z')) {
        root = leaf(x, x->s, x->end);
        x->s = x->end;
        return wrap(x, special, root);
    }
    if (x->s[0] == '_' && x->s[1] == 'Z')
        x->s += 2;
    else if (special != 0 || !take_block(x))
        return 0;
    root = cxx_parse(x);
    if (root == 0)
        return 0;
    if (special != 0) {
        root = wrap(x, special, root);
        x->s = x->end;
    }
    if (x->block)
        root = take_invoke(x) ? wrap(x, CXX_S_BLOCK, root) : 0;
    return root == 0 ? 0 : suffixes(x, root);
}

/* Parses and prints the name once. If it parses but cannot be printed, the next
 * attempt uses LLVM's dialect. */
static bool try(struct cxx *x, void *end)
{
    uint32_t root;

    lay_out(x, end);
    root = read_name(x);
    if (root == 0)
        return false;
    x->item = x->floor = end;
    if (cxx_print(x, root))
        return true;
    x->retry = true;
    x->meaningless = true;
    return false;
}

bool prof_cxx(struct demangle_buffer *out, const char *name, size_t bytes,
              void *work, size_t work_bytes)
{
    struct cxx *x = work;
    bool again = false, llvm = false;

    do {
        demangle_restart(out);
        *x = (struct cxx){.text = name,
                          .s = name,
                          .end = name + bytes,
                          .out = out,
                          .strict = again,
                          .llvm = llvm};
        if (try(x, (char *)work + work_bytes))
            return true;
        llvm = x->meaningless;
        again = !again;
    } while (again && x->retry);
    return false;
}
