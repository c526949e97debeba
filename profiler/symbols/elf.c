/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image's ELF symbol table, as a loader has put it into memory.
 *
 * It is in no order, and functions are a part of it. Opening moves these to its
 * beginning and sorts them by address there, in place: it is a copy that nobody
 * else reads, so neither a heap nor space in the image is needed, and a lookup
 * is a binary search. The sort is heapsort: a table in an order that somebody
 * has chosen takes no longer, and there is no recursion.
 *
 * Which of several symbols names an address, and how far a function reaches,
 * are the rules of `parasite embed` (host/symbols/function_symbols.c), except
 * that there are no sections here: code is one range.
 */

#include "symbols/elf.h"

#include <prof/error.h>

#if UINTPTR_MAX > UINT32_MAX
struct elf_symbol {
    uint32_t name; /* offset in the strings */
    uint8_t info;  /* binding << 4 | type */
    uint8_t other;
    uint16_t section;
    uintptr_t value; /* address */
    uintptr_t size;  /* in bytes, 0 = not stated */
};
_Static_assert(sizeof(struct elf_symbol) == 24, "Elf64_Sym");
#else
struct elf_symbol {
    uint32_t name;
    uintptr_t value;
    uintptr_t size;
    uint8_t info;
    uint8_t other;
    uint16_t section;
};
_Static_assert(sizeof(struct elf_symbol) == 16, "Elf32_Sym");
#endif

#define SYMBOLS_MAX ((uint32_t)1 << 31) /* twice as many have no index */

enum { SECTION_NONE = 0, SECTION_RESERVED = 0xff00 };
enum { TYPE_NONE = 0, TYPE_FUNCTION = 2, TYPE_INDIRECT_FUNCTION = 10 };
enum { BIND_LOCAL = 0, BIND_GLOBAL = 1, BIND_WEAK = 2 };

/* The table in use. Written by prof_elf_open() only. */
static struct {
    struct elf_symbol *functions; /* by address, no two of which overlap */
    const char *strings;
    size_t strings_bytes;
    uintptr_t end;   /* of the code, as linked */
    uintptr_t moved; /* where the image runs, less where it is linked */
    uint32_t count;  /* 0 = there is none; lettered accesses only */
} elf;

static const char *name_of(const struct elf_symbol *symbol)
{
    return elf.strings + symbol->name;
}

/* Length of the name at (at) in the strings; up to PROF_SYMTAB_NAME_MAX, and
 * never beyond them: they are in memory that anybody may write to. */
static size_t name_bytes(uint32_t at)
{
    size_t bytes = 0;

    while (bytes < PROF_SYMTAB_NAME_MAX && at + bytes < elf.strings_bytes &&
           elf.strings[at + bytes] != '\0')
        bytes++;
    return bytes;
}

/* A bare label, which may not be a function. */
static bool is_label(const struct elf_symbol *symbol)
{
    return (symbol->info & 15) == TYPE_NONE;
}

static bool is_local(const struct elf_symbol *symbol)
{
    return symbol->info >> 4 == BIND_LOCAL;
}

/* ---- which symbols are functions */

static bool has_dot(const char *name)
{
    while (*name != '\0' && *name != '.')
        name++;
    return *name != '\0';
}

static bool is_function(const struct elf_symbol *symbol,
                        const struct prof_elf_symbols *given)
{
    unsigned type = symbol->info & 15;

    if (type != TYPE_FUNCTION && type != TYPE_INDIRECT_FUNCTION &&
        type != TYPE_NONE)
        return false;
    if (symbol->section == SECTION_NONE || symbol->section >= SECTION_RESERVED)
        return false;
    if (symbol->value < given->code_begin || symbol->value >= given->code_end)
        return false;
    if (symbol->name >= given->strings_bytes || *name_of(symbol) == '\0' ||
        name_bytes(symbol->name) == PROF_SYMTAB_NAME_MAX)
        return false;
    return type != TYPE_NONE ||
           (*name_of(symbol) != '$' && !has_dot(name_of(symbol)));
}

/* Moves the functions among (count) symbols to the beginning; how many. */
static uint32_t keep_functions(struct elf_symbol *all, uint32_t count,
                               const struct prof_elf_symbols *given)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++)
        if (is_function(&all[i], given))
            all[kept++] = all[i];
    return kept;
}

/* ---- sorting: by address, and of one address the best name first */

/* Global, weak, local. */
static unsigned binding_rank(const struct elf_symbol *symbol)
{
    unsigned bind = symbol->info >> 4;

    return bind == BIND_LOCAL ? 2 : bind == BIND_WEAK;
}

/* One that does not begin with "_", the shorter one, the first by alphabet. */
static bool is_better_name(const char *a, const char *b)
{
    size_t same = 0, at;

    if ((*a == '_') != (*b == '_'))
        return *b == '_';
    while (a[same] != '\0' && a[same] == b[same])
        same++;
    for (at = same; a[at] != '\0' && b[at] != '\0'; at++)
        ;
    if ((a[at] == '\0') != (b[at] == '\0'))
        return a[at] == '\0';
    return (unsigned char)a[same] < (unsigned char)b[same];
}

static bool is_before(const struct elf_symbol *a, const struct elf_symbol *b)
{
    if (a->value != b->value)
        return a->value < b->value;
    if (is_label(a) != is_label(b))
        return is_label(b);
    if ((a->size == 0) != (b->size == 0))
        return b->size == 0;
    if (binding_rank(a) != binding_rank(b))
        return binding_rank(a) < binding_rank(b);
    if (a->name == b->name)
        return a->size < b->size;
    return is_better_name(name_of(a), name_of(b));
}

/* Moves the one at (at) down in the heap of (count), the last on top. */
static void sift(struct elf_symbol *heap, uint32_t at, uint32_t count)
{
    const struct elf_symbol moved = heap[at];

    while (at < count / 2) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < count && is_before(&heap[child], &heap[child + 1]))
            child++;
        if (!is_before(&moved, &heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void sort(struct elf_symbol *all, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sift(all, i, count);
    for (uint32_t i = count; i-- > 1;) {
        const struct elf_symbol last = all[0];

        all[0] = all[i];
        all[i] = last;
        sift(all, 0, i);
    }
}

/* ---- how far they reach */

/* Where (f) ends by its own account, and never beyond the code. */
static uintptr_t stated_end(const struct elf_symbol *f)
{
    uintptr_t room = elf.end - f->value;

    return f->value + (f->size < room ? f->size : room);
}

/* Whether (f), a bare label, belongs to the function (before) it. */
static bool is_loop(const struct elf_symbol *f, const struct elf_symbol *before)
{
    return is_local(f) && is_label(before) && before->size == 0 &&
           !is_local(before) && before->section == f->section;
}

/* Leaves one of each address, and no label within a function. Returns how many
 * are left of (count). */
static uint32_t choose(struct elf_symbol *all, uint32_t count)
{
    uintptr_t covered = 0; /* end of what sized functions take so far */
    uintptr_t last = 0;    /* address of the one before; none is at 0 */
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct elf_symbol f = all[i];
        bool inside =
            is_label(&f) && f.size == 0 &&
            (f.value < covered || (kept > 0 && is_loop(&f, &all[kept - 1])));
        bool alias = i > 0 && last == f.value;

        last = f.value;
        if (!is_label(&f) && stated_end(&f) > covered)
            covered = stated_end(&f);
        if (!inside && !alias)
            all[kept++] = f;
    }
    return kept;
}

/* A function ends where the next one starts, at the latest. */
static void set_sizes(struct elf_symbol *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t end = all[i].size == 0 ? elf.end : stated_end(&all[i]);

        if (i + 1 < count && all[i + 1].value < end)
            end = all[i + 1].value;
        all[i].size = end - all[i].value;
    }
}

/* ---- opening */

/* Whether both are in the address space, and apart, and the symbols where words
 * may be: they are written, which must not change a name. */
static bool is_laid_out(const struct prof_elf_symbols *given)
{
    uintptr_t symbols = (uintptr_t)given->symbols;
    uintptr_t strings = (uintptr_t)given->strings;

    if (symbols % sizeof(uintptr_t) != 0 ||
        given->symbols_bytes > UINTPTR_MAX - symbols ||
        given->strings_bytes > UINTPTR_MAX - strings)
        return false;
    return symbols + given->symbols_bytes <= strings ||
           strings + given->strings_bytes <= symbols;
}

static int test(const struct prof_elf_symbols *given)
{
    if (given->symbols == NULL || given->symbols_bytes == 0 ||
        given->strings == NULL || given->strings_bytes == 0)
        return PROF_ESYM_NONE;
    if (given->entry_bytes != sizeof(struct elf_symbol))
        return PROF_ESYM_WIDTH;
    if (!is_laid_out(given) ||
        given->symbols_bytes / sizeof(struct elf_symbol) >= SYMBOLS_MAX)
        return PROF_ESYM_LAYOUT;
    /* every name that begins inside ends inside */
    if (given->strings[given->strings_bytes - 1] != '\0')
        return PROF_ESYM_NAME;
    return PROF_OK;
}

void prof_elf_close(void)
{
    __atomic_store_n(&elf.count, 0, __ATOMIC_SEQ_CST);
}

int prof_elf_open(const struct prof_elf_symbols *given)
{
    uint32_t count, all;
    int error = test(given);

    /* D: as A in lookup.c */
    prof_elf_close();
    if (error != PROF_OK)
        return error;
    elf.functions = (struct elf_symbol *)given->symbols;
    elf.strings = given->strings;
    elf.strings_bytes = given->strings_bytes;
    elf.end = given->code_end;
    elf.moved = prof_symbols_moved_by();
    all = (uint32_t)(given->symbols_bytes / sizeof(struct elf_symbol));
    count = keep_functions(elf.functions, all, given);
    sort(elf.functions, count);
    count = choose(elf.functions, count);
    set_sizes(elf.functions, count);
    for (uint32_t i = count; count != 0 && i < all; i++) /* opened again */
        elf.functions[i].section = SECTION_NONE;
    /* E: pairs with F. Whoever sees the count sees the sorted table. */
    __atomic_store_n(&elf.count, count, __ATOMIC_RELEASE);
    return count != 0 ? PROF_OK : PROF_ESYM_NONE;
}

/* ---- lookups */

uint32_t prof_elf_count(void)
{
    return __atomic_load_n(&elf.count, __ATOMIC_ACQUIRE); /* F */
}

bool prof_elf_find(uintptr_t address, struct prof_symbol *found)
{
    uint32_t left = prof_elf_count(), first = 0;
    uintptr_t linked = address - elf.moved;
    const struct elf_symbol *f;

    if (left == 0)
        return false;
    while (left > 1) {
        uint32_t half = left / 2;

        first +=
            half & -(uint32_t)(elf.functions[first + half].value <= linked);
        left -= half;
    }
    f = &elf.functions[first];
    if (linked - f->value >= f->size) /* below it, that wraps around */
        return false;
    found->start = f->value + elf.moved;
    found->size = f->size;
    found->index = first;
    return true;
}

size_t prof_elf_name(const struct prof_symbol *symbol, char *out, size_t size)
{
    size_t bytes = 0;

    if (symbol->index < prof_elf_count()) {
        uint32_t at = elf.functions[symbol->index].name;

        bytes = name_bytes(at);
        for (size_t i = 0; i < bytes && i < size; i++)
            out[i] = elf.strings[at + i];
    }
    if (size > 0)
        out[bytes < size ? bytes : size - 1] = '\0';
    return bytes;
}
