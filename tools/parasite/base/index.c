/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing; doubled when it is half full. */

#include "base/index.h"

#include "base/log.h"
#include "base/memory.h"

#include <stdlib.h>

#define FIRST_ROOM 64u
#define ROOM_MAX (1u << 31)

static uint32_t slot_of(const struct index *index, uint64_t key)
{
    uint64_t mixed = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(mixed >> 32) & (index->room - 1);

    while (index->slots[at].number != INDEX_NONE && index->slots[at].key != key)
        at = (at + 1) & (index->room - 1);
    return at;
}

static void grow(struct index *index)
{
    struct index old = *index;

    if (old.room == ROOM_MAX)
        die("more than %u keys in one index", ROOM_MAX / 2);
    index->room = old.room > 0 ? 2 * old.room : FIRST_ROOM;
    index->slots = xreallocarray(NULL, index->room, sizeof *index->slots);
    for (uint32_t i = 0; i < index->room; ++i)
        index->slots[i].number = INDEX_NONE;
    for (uint32_t i = 0; i < old.room; ++i) {
        if (old.slots[i].number != INDEX_NONE)
            index->slots[slot_of(index, old.slots[i].key)] = old.slots[i];
    }
    free(old.slots);
}

uint32_t index_find(const struct index *index, uint64_t key)
{
    return index->room > 0 ? index->slots[slot_of(index, key)].number
                           : INDEX_NONE;
}

uint32_t index_add(struct index *index, uint64_t key, bool *is_new)
{
    struct index_slot *slot;

    if (2 * index->count >= index->room)
        grow(index);
    slot = &index->slots[slot_of(index, key)];
    if (is_new != NULL)
        *is_new = slot->number == INDEX_NONE;
    if (slot->number == INDEX_NONE)
        *slot = (struct index_slot){key, index->count++};
    return slot->number;
}

void index_free(struct index *index)
{
    free(index->slots);
    *index = (struct index){0};
}
