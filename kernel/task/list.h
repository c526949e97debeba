/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TASK_LIST_H
#define KERNEL_TASK_LIST_H

/*
 * Circular lists of nodes within what they link. A list is a node of its own.
 * A node that is in no list links to itself or is all zero; removing it then
 * does nothing.
 */

#include <kernel/promise.h>
#include <stdbool.h>
#include <stddef.h>

/* The struct of (type) whose member (member) is *(node). */
#define LIST_OWNER(node, type, member)                                         \
    ((type *)(void *)((char *)(node)-offsetof(type, member)))

static inline void list_init(struct promise_link *list)
{
    list->next = list->previous = list;
}

static inline bool list_empty(const struct promise_link *list)
{
    return list->next == list || list->next == NULL;
}

/* Adds (node) before (at): at the end of the list, if (at) is the list. */
static inline void list_add(struct promise_link *at, struct promise_link *node)
{
    node->previous = at->previous;
    node->next = at;
    at->previous->next = node;
    at->previous = node;
}

static inline void list_remove(struct promise_link *node)
{
    if (node->next == NULL)
        return;
    node->previous->next = node->next;
    node->next->previous = node->previous;
    list_init(node);
}

/* The first node, which is removed; NULL if there is none. */
static inline struct promise_link *list_take(struct promise_link *list)
{
    struct promise_link *node = list->next;

    if (list_empty(list))
        return NULL;
    list_remove(node);
    return node;
}

#endif
