/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_OBJECTS_H
#define PROF_TRACE_OBJECTS_H

/*
 * What must be known of an object when the event of its creation has been
 * overwritten, or was sent before a reader joined: a table of fixed size.
 *
 * An object's slot follows from its number, or is one of the next few. A slot
 * is free again when its object has ended, but keeps it until a new one needs
 * the room: events that are still in the ring may mention it. An object that
 * finds all of its slots taken is not in the table, and is counted. So an event
 * costs the same however many objects live.
 *
 * Contexts: any. A slot is claimed by one exchange, so that an interrupt in the
 * middle finds it taken.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_OBJECTS_PROBES 4u

/* Numbers end here; whatever is created after that is PROF_TRACE_UNKNOWN. */
#define PROF_OBJECTS_LAST 0xffff0000u

/* state: 0 = free; else an object's kind << 8 | site << 16, and LIVE, or
 * nothing where it has ended; or BUSY alone. */
#define PROF_OBJECT_LIVE 1u
#define PROF_OBJECT_BUSY 2u
#define PROF_OBJECT_USED 4u

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

/* Claims one of the slots beyond the first, or counts. */
struct prof_object *prof_objects_claim_other(uint32_t object);

/* What an object is known as after the last number. */
uint32_t prof_objects_exhausted(void);

/* Claims (slot), if it is free. */
static inline bool prof_objects_claim(struct prof_object *slot)
{
    uint32_t expected = slot->state;
    uint32_t found = expected;

    if ((expected & (PROF_OBJECT_LIVE | PROF_OBJECT_BUSY)) != 0)
        return false;
    __asm__ volatile("cmpxchgl %2, %1"
                     : "+a"(found), "+m"(slot->state)
                     : "r"(PROF_OBJECT_BUSY)
                     : "cc", "memory");
    return found == expected;
}

/* A number for a new object, with (rest): its kind << 8 and its site << 16. */
static inline uint32_t prof_objects_add(uint32_t creator, uint32_t rest)
{
    struct prof_object *slot;
    uint32_t object = 1;

    __asm__ volatile("xaddl %0, %1"
                     : "+r"(object), "+m"(prof_objects.next)
                     :
                     : "cc");
    if (__builtin_expect(object > PROF_OBJECTS_LAST, 0))
        return prof_objects_exhausted();
    slot = prof_objects_slot(object, 0);
    if (!prof_objects_claim(slot)) {
        slot = prof_objects_claim_other(object);
        if (slot == NULL)
            return object;
    }
    slot->object = object;
    slot->creator = creator;
    slot->label = 0;
    __atomic_store_n(&slot->state, rest | PROF_OBJECT_LIVE | PROF_OBJECT_USED,
                     __ATOMIC_RELEASE);
    return object;
}

/* The object has ended. */
static inline void prof_objects_end(uint32_t object)
{
    struct prof_object *slot = prof_objects_slot(object, 0);

    if (slot->object != object)
        slot = prof_objects_find(object);
    if (slot != NULL)
        slot->state &= ~PROF_OBJECT_LIVE;
}

void prof_objects_label(uint32_t object, uint32_t label);

/* Reader: copies slot (number), from 0 on. False: it is free, or just being
 * written. */
bool prof_objects_read(uint32_t number, struct prof_object *copy);

#endif
