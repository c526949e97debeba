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

struct prof_object *prof_objects_find(uint32_t object)
{
    if (object == PROF_TRACE_NONE)
        return NULL;
    for (uint32_t probe = 0; probe < PROF_OBJECTS_PROBES; probe++) {
        struct prof_object *slot = prof_objects_slot(object, probe);

        if (slot->object == object)
            return slot;
    }
    return NULL;
}

uint32_t prof_objects_add_elsewhere(uint32_t object, uint32_t creator,
                                    uint32_t what)
{
    if (object > PROF_OBJECTS_LAST) {
        prof_objects.next = PROF_OBJECTS_LAST + 1;
        prof_objects.untracked++;
        return PROF_TRACE_UNKNOWN;
    }
    for (uint32_t probe = 0; probe < PROF_OBJECTS_PROBES; probe++) {
        struct prof_object *slot = prof_objects_slot(object, probe);

        if (!prof_objects_claim_slot(slot))
            continue;
        prof_objects_fill_slot(slot, object, creator, what);
        return object;
    }
    prof_objects.untracked++;
    return object;
}

void prof_objects_end_elsewhere(uint32_t object)
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
           (copy->state & PROF_OBJECT_LIVE) != PROF_OBJECT_TAKEN &&
           __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == copy->state &&
           slot->object == copy->object;
}
