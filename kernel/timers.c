/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pairing heap: a tree in which each timer is due after its parent. Its
 * children are a list, linked by `sibling`. To insert is to compare with the
 * root. When a timer is removed, its children are merged in pairs, and the
 * pairs from the last one to the first.
 *
 * Source: Fredman, Sedgewick, Sleator and Tarjan, The Pairing Heap: A New Form
 * of Self-Adjusting Heap, Algorithmica 1 (1986).
 */

#include "timers.h"

#include <stddef.h>

struct loop_timer *timers_roots[ARCH_CPUS_MAX];
static uint32_t inserted[ARCH_CPUS_MAX];

static bool before(const struct loop_timer *a, const struct loop_timer *b)
{
    if (a->due_ns != b->due_ns)
        return a->due_ns < b->due_ns;
    return (int32_t)(a->order - b->order) < 0;
}

/* Puts (child) before the other children of (parent). */
static void adopt(struct loop_timer *parent, struct loop_timer *child)
{
    child->sibling = parent->child;
    if (child->sibling != NULL)
        child->sibling->link = &child->sibling;
    child->link = &parent->child;
    parent->child = child;
}

/* One tree of two; (b) may be NULL. */
static struct loop_timer *merge(struct loop_timer *a, struct loop_timer *b)
{
    if (b == NULL)
        return a;
    if (before(b, a)) {
        adopt(b, a);
        return b;
    }
    adopt(a, b);
    return a;
}

/* One tree of the list that begins with (timer). Pairs are stacked through
 * their `sibling`, the last one on top. */
static struct loop_timer *merge_list(struct loop_timer *timer)
{
    struct loop_timer *pairs = NULL, *tree = NULL;

    while (timer != NULL) {
        struct loop_timer *second = timer->sibling;
        struct loop_timer *rest = second == NULL ? NULL : second->sibling;
        struct loop_timer *pair = merge(timer, second);

        pair->sibling = pairs;
        pairs = pair;
        timer = rest;
    }
    while (pairs != NULL) {
        struct loop_timer *pair = pairs;

        pairs = pair->sibling;
        tree = merge(pair, tree);
    }
    return tree;
}

static void set_root(struct loop_timer *tree)
{
    struct loop_timer **root = &timers_roots[arch_cpu_number()];

    *root = tree;
    if (tree == NULL)
        return;
    tree->sibling = NULL;
    tree->link = root;
}

void timers_insert(struct loop_timer *timer)
{
    timer->child = timer->sibling = NULL;
    timer->order = inserted[arch_cpu_number()]++;
    set_root(merge(timer, timers_first()));
}

void timers_remove(struct loop_timer *timer)
{
    struct loop_timer *tree = merge_list(timer->child);

    *timer->link = timer->sibling;
    if (timer->sibling != NULL)
        timer->sibling->link = timer->link;
    timer->child = timer->sibling = NULL;
    if (timers_first() == NULL)
        set_root(tree);
    else if (tree != NULL)
        set_root(merge(timers_first(), tree));
}
