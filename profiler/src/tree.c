/* SPDX-License-Identifier: Apache-2.0 */

/* The tree of addresses; its rules are in tree.h. */

#include "tree.h"

#include "memory.h"

#define FIRST_CAPACITY 256u
#define CAPACITY_MAX (1u << 30)

static uint32_t place_of(const struct prof_tree *tree, uint32_t parent,
                         uintptr_t address)
{
    uint32_t mixed = ((uint32_t)address ^ parent * 0x85ebca6bu) * 0x9e3779b1u;

    return (mixed ^ mixed >> 15) & (tree->capacity * 2 - 1);
}

/* The slot of that child or, where there is none, the free one for it. */
static uint32_t *slot_for(const struct prof_tree *tree, uint32_t parent,
                          uintptr_t address)
{
    uint32_t at = place_of(tree, parent, address);

    for (; tree->slots[at] != 0; at = (at + 1) & (tree->capacity * 2 - 1)) {
        const struct prof_node *node = &tree->nodes[tree->slots[at]];

        if (node->address == address && node->parent == parent)
            break;
    }
    return &tree->slots[at];
}

/* Takes over what (old) has, node by node, numbers as they are. */
static void move(struct prof_tree *tree, const struct prof_tree *old)
{
    for (uint32_t i = 0; i < tree->capacity * 2; i++)
        tree->slots[i] = 0;
    tree->nodes[0] = (struct prof_node){0};
    for (uint32_t i = 0; i < old->used; i++) {
        tree->nodes[i] = old->nodes[i];
        if (i > 0)
            *slot_for(tree, old->nodes[i].parent, old->nodes[i].address) = i;
    }
}

/* Moves everything into a piece for (capacity) nodes. False: refused. */
static bool grow(struct prof_tree *tree, uint32_t capacity)
{
    struct prof_tree bigger = *tree;
    size_t each = sizeof *bigger.nodes + 2 * sizeof *bigger.slots;

    if (capacity > CAPACITY_MAX || SIZE_MAX / each < capacity)
        return false;
    bigger.nodes = prof_memory(capacity * each);
    if (bigger.nodes == NULL) {
        tree->refusals++;
        return false;
    }
    bigger.slots = (uint32_t *)(bigger.nodes + capacity);
    bigger.capacity = capacity;
    bigger.used = tree->used > 0 ? tree->used : 1;
    move(&bigger, tree);
    if (tree->nodes != NULL)
        prof_port_free(tree->nodes);
    *tree = bigger;
    return true;
}

bool prof_tree_reserve(struct prof_tree *tree, uint32_t more)
{
    uint32_t wanted = FIRST_CAPACITY;

    if (tree->capacity - tree->used >= more && tree->capacity != 0)
        return true;
    while (wanted < tree->used + more && wanted < CAPACITY_MAX)
        wanted *= 2;
    return grow(tree, wanted);
}

uint32_t prof_tree_find(const struct prof_tree *tree, uint32_t parent,
                        uintptr_t address)
{
    return tree->capacity == 0 ? 0 : *slot_for(tree, parent, address);
}

uint32_t prof_tree_add(struct prof_tree *tree, uint32_t parent,
                       uintptr_t address)
{
    uint32_t number = tree->used++;

    tree->nodes[number] = (struct prof_node){
        .address = address,
        .parent = parent,
        .sibling = tree->nodes[parent].child,
    };
    tree->nodes[parent].child = number;
    *slot_for(tree, parent, address) = number;
    return number;
}

void prof_tree_credit(struct prof_tree *tree, uint32_t number, uint64_t samples,
                      uint64_t cycles, uint64_t tsc)
{
    struct prof_node *node = &tree->nodes[number];

    if (node->samples == 0)
        node->first_tsc = tsc;
    node->last_tsc = tsc;
    node->samples += samples;
    node->cycles += cycles;
}

void prof_tree_forget(struct prof_tree *tree)
{
    tree->refusals = 0;
    for (uint32_t i = 0; i < tree->used; i++) {
        struct prof_node *node = &tree->nodes[i];

        node->samples = node->cycles = node->total = 0;
        node->first_tsc = node->last_tsc = 0;
    }
}

void prof_tree_sum(struct prof_tree *tree, bool cycles)
{
    for (uint32_t i = 0; i < tree->used; i++)
        tree->nodes[i].total =
            cycles ? tree->nodes[i].cycles : tree->nodes[i].samples;
    for (uint32_t i = tree->used; i > 1; i--)
        tree->nodes[tree->nodes[i - 1].parent].total +=
            tree->nodes[i - 1].total;
}
