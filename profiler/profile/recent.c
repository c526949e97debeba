/* SPDX-License-Identifier: Apache-2.0 */

/* The caches of recent samples: their memory, and what is noted. */

#include "profile/recent.h"

#include <prof/port.h>

#define CALLERS 256u
#define LEAVES 512u

struct prof_recent prof_recent;

/* The caches until there is memory. */
static struct prof_recent_callers one_callers;
static struct prof_recent_leaf one_leaf;

void prof_recent_open(void)
{
    one_callers.count = UINT32_MAX;
    one_leaf.pc = UINTPTR_MAX;
    prof_recent = (struct prof_recent){&one_callers, &one_leaf, 0, 0};
}

void prof_recent_reserve(void)
{
    size_t bytes = CALLERS * sizeof *prof_recent.callers +
                   LEAVES * sizeof *prof_recent.leaves;
    struct prof_recent_callers *callers;
    struct prof_recent_leaf *leaves;

    if (prof_recent.leaves_mask != 0)
        return;
    callers = prof_port_alloc(bytes);
    if (callers == NULL)
        return;
    leaves = (void *)(callers + CALLERS);
    for (uint32_t i = 0; i < CALLERS; i++)
        callers[i].count = UINT32_MAX;
    for (uint32_t i = 0; i < LEAVES; i++)
        leaves[i].pc = UINTPTR_MAX;
    prof_recent =
        (struct prof_recent){callers, leaves, CALLERS - 1, LEAVES - 1};
}

void prof_recent_note_callers(const uint32_t *frames, uint32_t count,
                              uint32_t hash, const struct prof_callers *callers)
{
    struct prof_recent_callers *slot = prof_recent_callers_slot(hash);
    uint32_t at = count % 2;

    if (count > PROF_RECENT_FRAMES)
        return;
    slot->hash = hash;
    slot->count = count;
    slot->callers = *callers;
    if (at != 0)
        slot->frames[0] = frames[0];
    for (; at < count; at += 2)
        __builtin_memcpy(slot->frames + at, frames + at, 2 * sizeof *frames);
}

void prof_recent_note_leaf(const struct prof_recent_leaf *leaf)
{
    *prof_recent_leaf_slot(leaf->pc, leaf->callers) = *leaf;
}
