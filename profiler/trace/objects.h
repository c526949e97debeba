/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_OBJECTS_H
#define PROF_TRACE_OBJECTS_H

/*
 * What must be known of an object when the event of its creation has been
 * overwritten, or was sent before a reader joined: a table of fixed size.
 *
 * An object's slot follows from its number, or is one of the next. A slot is
 * free again when its object has ended, but keeps it until a new one needs the
 * room: events that are still in the ring may mention it. An object that finds
 * all of them taken is not in the table, and is counted.
 *
 * Events do not touch the table: follow.h brings it up to date, in their order.
 * So an event costs the same however many objects live. What changes the table
 * is called from there alone, one at a time; what only reads it, by threads,
 * and by interrupts that have found nobody changing it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_OBJECTS_PROBES 8u

/* Numbers end here; whatever is created after that is PROF_TRACE_UNKNOWN. */
#define PROF_OBJECTS_LAST 0xffff0000u

/* state: an object's kind << 8 and site << 16, and these; 0 = never used, or
 * being written. */
#define PROF_OBJECT_USED 1u
#define PROF_OBJECT_LIVE 2u

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

/* The number of a new object. Contexts: any. */
static inline uint32_t prof_objects_take(void)
{
    uint32_t object = 1;

    __asm__ volatile("xaddl %0, %1"
                     : "+r"(object), "+m"(prof_objects.next)
                     :
                     : "cc");
    return object;
}

/* (object) was taken, but will not be in the trace. Contexts: any. */
static inline void prof_objects_give_back(uint32_t object)
{
    if (object > PROF_OBJECTS_LAST)
        prof_objects.next = PROF_OBJECTS_LAST + 1;
    prof_objects.untracked++;
}

/* Where (object) is, NULL = nowhere. */
struct prof_object *prof_objects_find(uint32_t object);

/* (creator) creates (object); (what) is its kind << 8 and its site << 16. Again
 * is as good as once. */
void prof_objects_begin(uint32_t object, uint32_t creator, uint32_t what);

/* It ends; it has another label. Nothing where it is not in the table. */
void prof_objects_end(uint32_t object);
void prof_objects_label(uint32_t object, uint32_t label);

/* Reader: copies slot (number), from 0 on. False: there is no object, or it is
 * just being written. */
bool prof_objects_read(uint32_t number, struct prof_object *copy);

#endif
