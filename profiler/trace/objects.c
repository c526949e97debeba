/* SPDX-License-Identifier: Apache-2.0 */

/* The table of objects; see objects.h. */

#include "trace/objects.h"

#include <prof/trace.h>

struct prof_objects prof_objects;

void prof_objects_open(struct prof_object *table, uint32_t slots)
{
    uint32_t next = prof_objects.next != 0 ? prof_objects.next : 1;

    prof_objects = (struct prof_objects){table, slots - 1, next, 0};
    for (uint32_t i = 0; i < slots; i++)
        table[i] = (struct prof_object){0};
}

static struct prof_object *slot_of(uint32_t object, uint32_t probe)
{
    return &prof_objects.slots[(object + probe) & prof_objects.mask];
}

struct prof_object *prof_objects_find(uint32_t object)
{
    for (uint32_t probe = 0; probe < PROF_OBJECTS_PROBES; probe++) {
        struct prof_object *slot = slot_of(object, probe);

        if (slot->object == object && (slot->state & PROF_OBJECT_USED) != 0)
            return slot;
    }
    return NULL;
}

/* A slot for (object): a free one, or the one it has, if it is taken again. */
static struct prof_object *slot_for(uint32_t object)
{
    for (uint32_t probe = 0; probe < PROF_OBJECTS_PROBES; probe++) {
        struct prof_object *slot = slot_of(object, probe);

        if ((slot->state & PROF_OBJECT_LIVE) == 0 || slot->object == object)
            return slot;
    }
    return NULL;
}

static void set_state(struct prof_object *slot, uint32_t state)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* see prof_objects_read() */
    __atomic_store_n(&slot->state, state, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void prof_objects_begin(uint32_t object, uint32_t creator, uint32_t what)
{
    struct prof_object *slot = slot_for(object);

    if (slot == NULL) {
        prof_objects.untracked++;
        return;
    }
    set_state(slot, 0);
    slot->object = object;
    slot->creator = creator;
    slot->label = 0;
    set_state(slot, (what & ~0xffu) | PROF_OBJECT_USED | PROF_OBJECT_LIVE);
}

void prof_objects_end(uint32_t object)
{
    struct prof_object *slot = prof_objects_find(object);

    if (slot != NULL)
        slot->state &= ~PROF_OBJECT_LIVE;
}

void prof_objects_label(uint32_t object, uint32_t label)
{
    struct prof_object *slot = prof_objects_find(object);

    if (slot != NULL)
        slot->label = label;
}

bool prof_objects_read(uint32_t number, struct prof_object *copy)
{
    const struct prof_object *slot = &prof_objects.slots[number];

    *copy = *(const volatile struct prof_object *)slot;
    return (copy->state & PROF_OBJECT_USED) != 0 &&
           __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == copy->state &&
           slot->object == copy->object;
}
