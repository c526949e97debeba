/* SPDX-License-Identifier: Apache-2.0 */

/* The caches of recent samples: their memory, and what is noted. */

#include "aggregate/recent.h"

#include "base/alloc.h"
#include "base/cpu.h"

#include <prof/config.h>
#include <prof/port.h>

#define LEAVES 512u
#define SLOTS (1u << PROF_RECENT_BITS)
#define RING 14080u /* words: 55 KiB */

_Static_assert(RING <= UINT16_MAX, "places in the ring are in 16 bits");

struct prof_recent prof_recent;

/* The caches until there is memory. */
static struct prof_callers no_callers = {.frames = PROF_RECENT_NONE};
static uint16_t no_slot;
static struct prof_recent_leaf one_leaf;

void prof_recent_open(void)
{
    one_leaf.pc = UINTPTR_MAX;
    prof_recent = (struct prof_recent){
        .slots = &no_slot, .ring = (void *)&no_callers, .leaves = &one_leaf};
}

static struct prof_callers *callers_at(uint32_t at)
{
    return (void *)(prof_recent.ring + at);
}

static void take_callers(uint32_t *words)
{
    prof_recent.ring = words;
    prof_recent.slots = (void *)(prof_recent.ring + RING);
    prof_recent.slots_mask = SLOTS - 1;
    prof_clear_words(prof_recent.slots,
                     SLOTS * sizeof *prof_recent.slots / sizeof(uintptr_t));
    *callers_at(0) = no_callers;
    prof_recent.head = PROF_CALLERS_WORDS;
    prof_recent.oldest = prof_recent.end = prof_recent.head;
}

void prof_recent_reserve(void)
{
    size_t bytes = LEAVES * sizeof *prof_recent.leaves;
    struct prof_recent_leaf *leaves;

    if (PROF_WITH_CALLERS)
        bytes +=
            RING * sizeof *prof_recent.ring + SLOTS * sizeof *prof_recent.slots;
    if (prof_recent.leaves_mask != 0)
        return;
    leaves = prof_alloc(bytes);
    if (leaves == NULL)
        return;
    for (uint32_t i = 0; i < LEAVES; i++)
        leaves[i].pc = UINTPTR_MAX;
    prof_recent.leaves = leaves;
    prof_recent.leaves_mask = LEAVES - 1;
    if (PROF_WITH_CALLERS)
        take_callers((void *)(leaves + LEAVES));
}

static void forget_oldest(void)
{
    const struct prof_callers *callers = callers_at(prof_recent.oldest);
    uint16_t *slot = &prof_recent.slots[callers->slot];

    if (*slot == prof_recent.oldest)
        *slot = 0;
    prof_recent.oldest += PROF_CALLERS_WORDS + callers->frames;
}

static void forget_until(uint32_t at)
{
    while (prof_recent.oldest < at && prof_recent.oldest < prof_recent.end)
        forget_oldest();
}

static uint32_t make_room_in_ring(uint32_t words)
{
    uint32_t at = prof_recent.head;

    if (at + words > RING) { /* the next lap */
        forget_until(RING);
        prof_recent.end = at;
        at = prof_recent.oldest = PROF_CALLERS_WORDS;
    }
    forget_until(at + words);
    prof_recent.head = at + words;
    return at;
}

/* From now on the callers (at) this place are found by (slot). */
static void put_in_slot(uint32_t slot, uint32_t at)
{
    prof_recent.slots[slot] = (uint16_t)at;
    callers_at(at)->slot = (uint16_t)slot;
}

const struct prof_callers *prof_recent_find_displaced(const uint32_t *frames,
                                                      uint32_t count,
                                                      uint32_t hash)
{
    return PROF_WITH_CALLERS ? prof_recent_find_callers(frames, count, hash ^ 1)
                             : NULL;
}

void prof_recent_note_callers(const uint32_t *frames, uint32_t hash,
                              const struct prof_callers *callers)
{
    uint32_t slot = hash & prof_recent.slots_mask, at;

    if (!PROF_WITH_CALLERS || prof_recent.slots_mask == 0)
        return;
    at = make_room_in_ring(PROF_CALLERS_WORDS + callers->frames);
    *callers_at(at) = *callers;
    if (prof_recent.slots[slot] != 0)
        put_in_slot(slot ^ 1, prof_recent.slots[slot]);
    put_in_slot(slot, at);
    for (uint32_t i = 0; i < callers->frames; i++)
        prof_recent.ring[at + PROF_CALLERS_WORDS + i] = frames[i];
}

void prof_recent_note_leaf(const struct prof_recent_leaf *leaf)
{
    *prof_recent_leaf_slot(leaf->pc, leaf->callers) = *leaf;
}
