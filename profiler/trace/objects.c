/* SPDX-License-Identifier: Apache-2.0 */

/* The table of objects, and how it follows the ring; see objects.h. */

#include "trace/objects.h"

#include <prof/trace.h>

#define FOLLOW_AHEAD 64u

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

/* Putting an object in again does no harm. */
static void begin_object(uint32_t object, uint32_t creator, uint32_t what)
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

static void end_object(uint32_t object)
{
    struct prof_object *slot = prof_objects_find(object);

    if (slot != NULL)
        slot->state &= ~PROF_OBJECT_LIVE;
}

static void label_object(uint32_t object, uint32_t label)
{
    struct prof_object *slot = prof_objects_find(object);

    if (slot != NULL)
        slot->label = label;
}

static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(b - a) > 0;
}

static bool is_held(uint32_t at)
{
    return (at & PROF_TRACE_HELD) == PROF_TRACE_HELD;
}

/* If (*word) is (from), it becomes (to); in one instruction. */
static bool replace_word(uint32_t *word, uint32_t from, uint32_t to)
{
    bool changed;

    __asm__ volatile("cmpxchgl %3, %1"
                     : "=@ccz"(changed), "+m"(*word), "+a"(from)
                     : "r"(to)
                     : "memory");
    return changed;
}

static void take_record(const struct prof_trace_aside *part)
{
    const uint32_t what = prof_trace_what_of(part->what);

    if (what == PROF_TRACE_DID_CREATE)
        begin_object(part->a, part->b, part->what);
    else if (what == PROF_TRACE_DID_LABEL)
        label_object(part->a, prof_trace_name_of(part->what));
    else
        end_object(part->a);
}

static struct prof_trace_aside copy_of(const struct prof_trace_record *record)
{
    const volatile struct prof_trace_record *from = record;

    return (struct prof_trace_aside){record->at & ~PROF_TRACE_HELD, from->a,
                                     from->b, from->what};
}

static uint32_t at_of(const struct prof_trace_record *record)
{
    return __atomic_load_n(&record->at, __ATOMIC_ACQUIRE);
}

/* Takes the record of position (at) from the ring. False: an interrupt has come
 * and set it aside. */
static bool take_from_ring(struct prof_trace_record *record, uint32_t at)
{
    struct prof_trace_aside part = copy_of(record);

    PROF_TRACE_ORDERED();
    if (at_of(record) != at + PROF_TRACE_HELD)
        return false;
    take_record(&part);
    (void)replace_word(&record->at, at + PROF_TRACE_HELD, at);
    return true;
}

static void take_from_aside(const struct prof_trace_cpu *cpu, uint32_t at)
{
    for (uint32_t i = 0; i < cpu->follower.count && i < PROF_TRACE_ASIDE_MAX;
         i++)
        if (cpu->follower.aside[i].at == at)
            take_record(&cpu->follower.aside[i]);
}

/* Position (until), or that after the last one set aside, if it is later. */
static uint32_t end_of(const struct prof_trace_cpu *cpu, uint32_t until,
                       uint32_t aside)
{
    for (uint32_t i = 0; i < aside && i < PROF_TRACE_ASIDE_MAX; i++)
        if (!is_before(cpu->follower.aside[i].at, until))
            until = cpu->follower.aside[i].at + PROF_TRACE_STEP;
    return until;
}

static void take_until(struct prof_trace_cpu *cpu, uint32_t until)
{
    uint32_t at = cpu->follower.tail;

    for (; is_before(at, until); at += PROF_TRACE_STEP) {
        struct prof_trace_record *record = prof_trace_slot(cpu, at);

        if (at_of(record) == at + PROF_TRACE_HELD && take_from_ring(record, at))
            continue;
        if (cpu->follower.count != 0)
            take_from_aside(cpu, at);
    }
    cpu->follower.tail = at;
}

static bool begin_update(struct prof_trace_cpu *cpu)
{
    bool busy;

    __asm__ volatile("btsl $0, %1"
                     : "=@ccc"(busy), "+m"(cpu->follower.busy)
                     :
                     : "memory");
    return !busy;
}

/* Skips what was overwritten long ago: nothing that was held. A producer that
 * is about to overwrite something has taken a position, and so have interrupts
 * in the middle of that; hence two rings. */
static void skip_overwritten(struct prof_trace_cpu *cpu)
{
    const uint32_t ring = cpu->mask + 1;

    if (cpu->head - cpu->follower.tail > 4 * ring && cpu->follower.count == 0)
        cpu->follower.tail = cpu->head - 2 * ring;
}

/* Takes what comes before (until), and what is set aside meanwhile, unless an
 * interrupted context is doing it. */
static void update_until(struct prof_trace_cpu *cpu, uint32_t until)
{
    uint32_t aside;

    if (!begin_update(cpu))
        return;
    skip_overwritten(cpu);
    do {
        aside = __atomic_load_n(&cpu->follower.count, __ATOMIC_RELAXED);
        take_until(cpu, end_of(cpu, until, aside));
    } while (!replace_word(&cpu->follower.count, aside, 0));
    __atomic_store_n(&cpu->follower.busy, 0, __ATOMIC_RELEASE);
}

static uint32_t ahead_of(struct prof_trace_cpu *cpu, uint32_t at)
{
    const uint32_t ahead = FOLLOW_AHEAD * PROF_TRACE_STEP;
    const uint32_t head = __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);

    return head - at > ahead ? at + ahead : head;
}

void prof_objects_follow(struct prof_trace_cpu *cpu, bool panic)
{
    const uint32_t until = __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);

    if (panic)
        cpu->follower.busy = 0;
    while (cpu->follower.busy == 0 && is_before(cpu->follower.tail, until))
        update_until(cpu, ahead_of(cpu, cpu->follower.tail));
}

/* Sets (record) aside. False: no room. */
static bool set_aside(struct prof_trace_cpu *cpu,
                      const struct prof_trace_record *record)
{
    uint32_t number = 1;

    __asm__ volatile("xaddl %0, %1"
                     : "+r"(number), "+m"(cpu->follower.count)
                     :
                     : "cc");
    if (number >= PROF_TRACE_ASIDE_MAX)
        return false;
    cpu->follower.aside[number] = copy_of(record);
    return true;
}

bool prof_objects_release(struct prof_trace_cpu *cpu,
                          struct prof_trace_record *record)
{
    uint32_t found = at_of(record), at = found & ~PROF_TRACE_HELD;

    if (!is_held(found))
        return found == at; /* released by an interrupt, or being written */
    update_until(cpu, ahead_of(cpu, at));
    if (at_of(record) != at && !set_aside(cpu, record))
        return false;
    (void)replace_word(&record->at, found, at);
    return true;
}

bool prof_objects_read(uint32_t number, struct prof_object *copy)
{
    const struct prof_object *slot = &prof_objects.slots[number];

    *copy = *(const volatile struct prof_object *)slot;
    return (copy->state & PROF_OBJECT_USED) != 0 &&
           __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == copy->state &&
           slot->object == copy->object;
}
