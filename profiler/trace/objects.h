/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_OBJECTS_H
#define PROF_TRACE_OBJECTS_H

/*
 * The table of live objects, of fixed size: the properties of an object that a
 * reader needs if the event of its creation was overwritten, or was sent before
 * the reader joined.
 *
 * An object's slot is determined by its number, or is one of the following
 * slots. When an object has ended, its entry remains until a new object needs
 * the slot, as events in the ring may still refer to it. An object whose slots
 * are all taken is not in the table, and is counted.
 *
 * Recording an event does not access the table, so that its cost does not
 * depend on the number of live objects. The table is updated later, from the
 * records of creations, ends and labels in the ring. These are held
 * (recorder.h): none is overwritten before it is in the table. So the table is
 * exact.
 *
 * Records are taken in order, by one context at a time: the drain, or a
 * producer whose slot is held. An interrupt that finds its slot held meanwhile
 * sets that record aside, for the interrupted context to take.
 * tests/model/follow.pml has the proof, for interrupts that do not wrap around
 * the ring in the middle of one event. If they do, or if there is no room to
 * set a record aside, an event is lost, and counted. An object whose creation
 * is lost is PROF_TRACE_UNKNOWN.
 *
 * With several CPUs each has a part of the table, for the objects that it has
 * created, and follows its own ring: in prof_cpu_poll(), and when a slot is
 * held. An object's number identifies its CPU: numbers of CPU n are n modulo a
 * power of two (PROF_OBJECTS_SHIFT). The end and the label of another CPU's
 * object are entered in that CPU's part. If the object is not there yet,
 * because its CPU has not processed its creation, this is retried at the next
 * update; if there is no room to remember it, it is counted as untracked.
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

/* Sets the number of CPUs; to be called first. Contexts: thread, once. */
void prof_objects_divide(uint32_t cpus);

/* Initialises the part of (cpu) with (slots) slots, a power of two. Contexts:
 * thread, once. */
void prof_objects_open(struct prof_trace_cpu *cpu, struct prof_object *table,
                       uint32_t slots);

/* Returns the number of objects that (cpu) has created. */
static inline uint32_t prof_objects_created(const struct prof_trace_cpu *cpu)
{
    uint32_t next = cpu->objects.next >> PROF_OBJECTS_SHIFT;

    return next != 0 ? next - 1 : 0;
}

/* Returns the number of a new object of (cpu), which is the current CPU.
 * Contexts: any. */
static inline uint32_t prof_objects_take(struct prof_trace_cpu *cpu)
{
    uint32_t object = PROF_OBJECTS_STRIDE;

    __asm__ volatile("xaddl %0, %1"
                     : "+r"(object), "+m"(cpu->objects.next)
                     :
                     : "cc");
    return object;
}

/* Reports that the number (object) was taken, but will not be in the trace.
 * Contexts: any. */
static inline void prof_objects_give_back(struct prof_trace_cpu *cpu,
                                          uint32_t object)
{
    if (object > PROF_OBJECTS_LAST)
        cpu->objects.next = PROF_OBJECTS_LAST + 1;
    cpu->objects.untracked++;
}

/* Returns the entry of (object), NULL = none. Contexts: those that update the
 * table. */
struct prof_object *prof_objects_find(uint32_t object);

/* Updates the table from the ring. Contexts: thread on (cpu); with (panic),
 * any, on any CPU. */
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
