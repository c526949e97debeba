/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which name an address gets, and how far a function reaches.
 *
 * Several symbols at one address are the rule in C libraries and at the start
 * of sections. The one that names the function is, in this order of weight:
 *   1. one that is marked as a function before a bare label,
 *   2. one that states its size before one that does not,
 *   3. global before weak before local,
 *   4. one that does not begin with "_" before one that does,
 *   5. the shorter name, then the alphabetically first.
 *
 * A bare label within a function that states its size is a position in that
 * function and does not cut it in two. So is a local bare label after a global
 * one: assembly that marks neither functions nor their ends has its loop labels
 * there. Where functions overlap after that, the lower one ends where the upper
 * one starts. A function that states no size reaches to the next one, or to the
 * end of its section.
 */

#include "symbols/function_symbols.h"

#include <string.h>

static bool is_in_code(const Elf64_Sym *symbol, const Elf64_Shdr *section)
{
    const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;

    return (section->sh_flags & code) == code &&
           section->sh_size <= UINT64_MAX - section->sh_addr &&
           symbol->st_value >= section->sh_addr &&
           symbol->st_value < section->sh_addr + section->sh_size;
}

static bool names_function(const char *name, bool label)
{
    if (name == NULL || name[0] == '\0')
        return false;
    return !label || (strchr(name, '.') == NULL && name[0] != '$');
}

static enum binding binding_of(const Elf64_Sym *symbol)
{
    switch (ELF64_ST_BIND(symbol->st_info)) {
    case STB_LOCAL:
        return BINDING_LOCAL;
    case STB_WEAK:
        return BINDING_WEAK;
    default:
        return BINDING_GLOBAL;
    }
}

bool function_of_symbol(const Elf64_Sym *symbol, const Elf64_Shdr *section,
                        const char *name, struct function *function)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);

    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return false;
    if (!is_in_code(symbol, section))
        return false;
    *function = (struct function){
        .start = symbol->st_value,
        .size = symbol->st_size,
        .limit = section->sh_addr + section->sh_size,
        .name = name,
        .binding = binding_of(symbol),
        .label = type == STT_NOTYPE,
    };
    return names_function(name, function->label);
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

static int compare_names(const char *left, const char *right)
{
    int order = (left[0] == '_') - (right[0] == '_');

    if (order == 0)
        order = compare_numbers(strlen(left), strlen(right));
    return order != 0 ? order : strcmp(left, right);
}

int function_compare(const void *left, const void *right)
{
    const struct function *a = left, *b = right;
    int order = compare_numbers(a->start, b->start);

    if (order == 0)
        order = a->label - b->label;
    if (order == 0)
        order = (a->size == 0) - (b->size == 0);
    if (order == 0)
        order = (int)a->binding - (int)b->binding;
    if (order == 0)
        order = compare_names(a->name, b->name);
    return order != 0 ? order : compare_numbers(a->size, b->size);
}

/* Where (f) ends by its own account, and never beyond its section. */
static uint64_t stated_end(const struct function *f)
{
    uint64_t room = f->limit - f->start;

    return f->start + (f->size < room ? f->size : room);
}

static void set_sizes(struct function *chosen, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        struct function *f = &chosen[i];
        uint64_t end = f->size == 0 ? f->limit : stated_end(f);

        if (i + 1 < count && chosen[i + 1].start < end)
            end = chosen[i + 1].start;
        f->size = end - f->start;
    }
}

/* Whether (f), a bare label, belongs to the function (before) it. */
static bool is_loop(const struct function *f, const struct function *before)
{
    return f->binding == BINDING_LOCAL && before->label && before->size == 0 &&
           before->binding != BINDING_LOCAL && before->limit == f->limit;
}

size_t functions_choose(const struct function *all, size_t count,
                        struct function *chosen)
{
    size_t used = 0;
    uint64_t covered = 0; /* end of what sized functions take so far */

    for (size_t i = 0; i < count; ++i) {
        const struct function *f = &all[i];
        bool inside =
            f->label && f->size == 0 &&
            (f->start < covered || (used > 0 && is_loop(f, &chosen[used - 1])));
        bool alias = i > 0 && all[i - 1].start == f->start;

        if (!f->label && stated_end(f) > covered)
            covered = stated_end(f);
        if (!inside && !alias)
            chosen[used++] = *f;
    }
    set_sizes(chosen, used);
    return used;
}
