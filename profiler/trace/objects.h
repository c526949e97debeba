/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_OBJECTS_H
#define PROF_TRACE_OBJECTS_H

/*
 * What must be known of an object when the event of its creation has been
 * overwritten, or was sent before a reader joined: a table of fixed size.
 *
 * An object's slot follows from its number, or is the one after. A slot
 * is free again when its object has ended, but keeps it until a new one needs
 * the room: events that are still in the ring may mention it. An object that
 * finds both taken is not in the table, and is counted. So an event
 * costs the same however many objects live.
 *
 * Contexts: any. A slot is claimed by one instruction, so that an interrupt in
 * the middle finds it taken.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_OBJECTS_PROBES 2u

/* Numbers end here; whatever is created after that is PROF_TRACE_UNKNOWN. */
#define PROF_OBJECTS_LAST 0xffff0000u

/* state: an object's kind << 8 and site << 16, and these; 0 = never used. TAKEN
 * without WHOLE: it is being written. */
#define PROF_OBJECT_TAKEN 1u
#define PROF_OBJECT_WHOLE 2u
#define PROF_OBJECT_USED 4u
#define PROF_OBJECT_LIVE (PROF_OBJECT_TAKEN | PROF_OBJECT_WHOLE)

struct prof_object {
    uint32_t state;
    uint32_t object;
    uint32_t creator;
    uint32_t label; /* number of a name, 0 = none */
};

struct prof_objects {
    struct prof_object *slots;
    uint32_t mask;
    uint32_t next;      /* number of the next object */
    uint32_t untracked; /* objects that are not in the table */
};

extern struct prof_objects prof_objects;

/* Takes over (slots) slots, a power of two. Contexts: thread, once. */
void prof_objects_open(struct prof_object *table, uint32_t slots);

static inline struct prof_object *prof_objects_slot(uint32_t object,
                                                    uint32_t probe)
{
    return &prof_objects.slots[(object + probe) & prof_objects.mask];
}

/* Where (object) is, NULL = nowhere. */
struct prof_object *prof_objects_find(uint32_t object);

/* Claims slot (slot), if it is free. */
static inline bool prof_objects_claim_slot(struct prof_object *slot)
{
    bool taken;

    __asm__ volatile("btsl $0, %1" : "=@ccc"(taken), "+m"(slot->state));
    return !taken;
}

/* The number of a new object. */
static inline uint32_t prof_objects_take(void)
{
    uint32_t object = 1;

    __asm__ volatile("xaddl %0, %1"
                     : "+r"(object), "+m"(prof_objects.next)
                     :
                     : "cc");
    return object;
}

/* Claims the slot of a new object; false: it is taken, or there are no more
 * numbers. */
static inline bool prof_objects_claim(uint32_t object)
{
    return object <= PROF_OBJECTS_LAST &&
           prof_objects_claim_slot(prof_objects_slot(object, 0));
}

static inline void prof_objects_fill_slot(struct prof_object *slot,
                                          uint32_t object, uint32_t creator,
                                          uint32_t what)
{
    slot->object = object;
    slot->creator = creator;
    slot->label = 0;
    __atomic_store_n(&slot->state, what | PROF_OBJECT_LIVE | PROF_OBJECT_USED,
                     __ATOMIC_RELEASE);
}

/* Fills the slot that was claimed, with (what) is recorded of the object: its
 * kind << 8 and its site << 16. */
static inline void prof_objects_fill(uint32_t object, uint32_t creator,
                                     uint32_t what)
{
    prof_objects_fill_slot(prof_objects_slot(object, 0), object, creator, what);
}

/* The same as these two wherever there is room. Returns the object's number,
 * PROF_TRACE_UNKNOWN after the last. */
uint32_t prof_objects_add_elsewhere(uint32_t object, uint32_t creator,
                                    uint32_t what);

/* The object has ended. False: it is not in the slot that it should be in. */
static inline bool prof_objects_end(uint32_t object)
{
    struct prof_object *slot = prof_objects_slot(object, 0);

    if (slot->object != object)
        return false;
    slot->state &= ~PROF_OBJECT_LIVE;
    return true;
}

void prof_objects_end_elsewhere(uint32_t object);

void prof_objects_label(uint32_t object, uint32_t label);

/* Reader: copies slot (number), from 0 on. False: it is free, or just being
 * written. */
bool prof_objects_read(uint32_t number, struct prof_object *copy);

#endif
