/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which name an address gets, and how far a function reaches.
 *
 * Several symbols on one address are the rule in C libraries and at the start
 * of sections. The one that names the function is, in this order of weight:
 *   1. one that is marked as a function before a bare label,
 *   2. one that states its size before one that does not,
 *   3. global before weak before local,
 *   4. one that does not begin with "_" before one that does,
 *   5. the shorter name, then the alphabetically first.
 *
 * A bare label within a function that states its size is a place in that
 * function and does not cut it in two. The same is a local bare label behind a
 * global one: an assembler's source that marks neither functions nor their ends
 * has its loops' labels there. Where functions overlap after that, the
 * lower one ends where the upper one starts. A function that states no size
 * reaches to the next one, or to the end of its section. All of this is settled
 * here, on the host, so that the guest never has to guess.
 */

#include "embed.h"

#include <string.h>

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

int select_compare(const void *left, const void *right)
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

static void settle_sizes(struct functions *chosen)
{
    for (size_t i = 0; i < chosen->count; ++i) {
        struct function *f = &chosen->at[i];
        uint64_t end = f->size == 0 ? f->limit : stated_end(f);

        if (i + 1 < chosen->count && chosen->at[i + 1].start < end)
            end = chosen->at[i + 1].start;
        f->size = end - f->start;
    }
}

/* Whether (f), a bare label, belongs to the function (before) it. */
static bool is_loop(const struct function *f, const struct function *before)
{
    return f->binding == BINDING_LOCAL && before->label && before->size == 0 &&
           before->binding != BINDING_LOCAL && before->limit == f->limit;
}

struct functions select_functions(const struct functions *all)
{
    struct functions chosen = {embed_alloc(all->count, sizeof *all->at), 0};
    uint64_t covered = 0; /* end of what sized functions take so far */

    for (size_t i = 0; i < all->count; ++i) {
        const struct function *f = &all->at[i];
        bool inside =
            f->label && f->size == 0 &&
            (f->start < covered ||
             (chosen.count > 0 && is_loop(f, &chosen.at[chosen.count - 1])));
        bool alias = i > 0 && all->at[i - 1].start == f->start;

        if (!f->label && stated_end(f) > covered)
            covered = stated_end(f);
        if (!inside && !alias)
            chosen.at[chosen.count++] = *f;
    }
    settle_sizes(&chosen);
    return chosen;
}
