/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_OBJECTS_H
#define PROF_TRACE_OBJECTS_H

/*
 * What must be known of an object when the event of its creation has been
 * overwritten, or was sent before a reader joined: a table of fixed size.
 *
 * An object's slot follows from its number, or is one of the next. When its
 * object has ended it stays until a new object needs the room: events in the
 * ring may still mention it. An object that finds all of its slots taken is not
 * in the table, and is counted.
 *
 * Events do not touch the table, so that they cost the same however many
 * objects live. It is brought up to the ring later, from the records that say
 * when an object begins, ends, or gets a label. These are held (recorder.h):
 * none is overwritten before the table has it. So the table is exact.
 *
 * Records are taken in order, by one context at a time: the drain, or a
 * producer whose slot is held. An interrupt that finds its slot held meanwhile
 * sets that record aside, for the interrupted context to take.
 * tests/model/follow.pml has the proof, for interrupts that do not wrap around
 * the ring in the middle of one event. If they do, or if there is no room to
 * set a record aside, an event is lost, and counted. An object whose creation
 * is lost is PROF_TRACE_UNKNOWN.
 *
 * With several CPUs each has its part of the table, for the objects that it has
 * created, and follows its own ring: in prof_cpu_poll(), and where a slot is
 * held. Numbers say whose they are: those of CPU n are n modulo a power of two
 * (PROF_OBJECTS_SHIFT). What a CPU says of another one's object, its end or its
 * label, it enters in that one's part. If the object is not there yet, since
 * its CPU has not come to its creation, it does so when it follows again; what
 * there is no room to remember for that is counted as untracked.
 */
#include "trace/recorder.h"

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
    uint32_t creator;
    uint32_t object; /* it and its label are changed as one by other CPUs */
    uint32_t label;  /* number of a name, 0 = none */
};

/* Numbers of objects / 2^this are a CPU's own, from 1 on. */
#if PROF_CPUS_MAX == 1
#define PROF_OBJECTS_SHIFT 0u
#else
extern uint32_t prof_objects_shift; /* by the CPUs that may join */
#define PROF_OBJECTS_SHIFT prof_objects_shift
#endif
#define PROF_OBJECTS_STRIDE (1u << PROF_OBJECTS_SHIFT)

/* How many CPUs there may be, before the others. Contexts: thread, once. */
void prof_objects_divide(uint32_t cpus);

/* Takes over (slots) slots, a power of two, for (cpu). Contexts: thread,
 * once. */
void prof_objects_open(struct prof_trace_cpu *cpu, struct prof_object *table,
                       uint32_t slots);

/* Objects that (cpu) has created. */
static inline uint32_t prof_objects_created(const struct prof_trace_cpu *cpu)
{
    uint32_t next = cpu->objects.next >> PROF_OBJECTS_SHIFT;

    return next != 0 ? next - 1 : 0;
}

/* The number of a new object of (cpu), which is the current CPU. Contexts:
 * any. */
static inline uint32_t prof_objects_take(struct prof_trace_cpu *cpu)
{
    uint32_t object = PROF_OBJECTS_STRIDE;

    __asm__ volatile("xaddl %0, %1"
                     : "+r"(object), "+m"(cpu->objects.next)
                     :
                     : "cc");
    return object;
}

/* (object) was taken, but will not be in the trace. Contexts: any. */
static inline void prof_objects_give_back(struct prof_trace_cpu *cpu,
                                          uint32_t object)
{
    if (object > PROF_OBJECTS_LAST)
        cpu->objects.next = PROF_OBJECTS_LAST + 1;
    cpu->objects.untracked++;
}

/* Where (object) is, NULL = nowhere. Contexts: those that update the table. */
struct prof_object *prof_objects_find(uint32_t object);

/* Brings the table up to what the ring has. Contexts: thread on (cpu); (panic):
 * in the middle of anything, on any CPU. */
void prof_objects_follow(struct prof_trace_cpu *cpu, bool panic);

#if PROF_CPUS_MAX > 1
/* Tries again to enter what (cpu), the current one, has recorded of other CPUs'
 * objects in their parts of the table. Contexts: thread. */
void prof_objects_again(struct prof_trace_cpu *cpu);
#endif

/* Releases a held record. False: it is being written, or there is no room to
 * set it aside. Contexts: any. */
bool prof_objects_release(struct prof_trace_cpu *cpu,
                          struct prof_trace_record *record);

/* Copies slot (number) of (cpu)'s part, from 0 on. False: there is no object,
 * or it is just being written. Contexts: thread, panic. */
bool prof_objects_read(const struct prof_trace_cpu *cpu, uint32_t number,
                       struct prof_object *copy);

#endif
