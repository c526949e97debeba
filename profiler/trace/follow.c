/* SPDX-License-Identifier: Apache-2.0 */

/* From records to the table of objects; see follow.h. */

#include "trace/follow.h"

#include "trace/objects.h"

#define FOLLOW_AHEAD 64u
#define ASIDE_MAX 16u /* then such an event is left out */

struct part {
    uint32_t at; /* position */
    uint32_t a, b, what;
};

static struct {
    uint32_t tail;  /* position of the next record */
    uint32_t busy;  /* 1: somebody is at it */
    uint32_t aside; /* of the following: taken by interrupts meanwhile */
    struct part parts[ASIDE_MAX];
} follow;

void prof_follow_open(const struct prof_trace_cpu *cpu)
{
    follow.tail = cpu->head;
    follow.busy = follow.aside = 0;
}

/* Whether position (a) is before (b). */
static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(b - a) > 0;
}

static bool is_held(uint32_t at)
{
    return (at & PROF_TRACE_HELD) == PROF_TRACE_HELD;
}

/* If (*word) is (from), it becomes (to); in one instruction. */
static bool change(uint32_t *word, uint32_t from, uint32_t to)
{
    bool changed;

    __asm__ volatile("cmpxchgl %3, %1"
                     : "=@ccz"(changed), "+m"(*word), "+a"(from)
                     : "r"(to)
                     : "memory");
    return changed;
}

static void take(const struct part *part)
{
    const uint32_t what = prof_trace_what_of(part->what);

    if (what == PROF_TRACE_DID_CREATE)
        prof_objects_begin(part->a, part->b, part->what);
    else if (what == PROF_TRACE_DID_LABEL)
        prof_objects_label(part->a, prof_trace_name_of(part->what));
    else
        prof_objects_end(part->a);
}

static struct part copy_of(const struct prof_trace_record *record)
{
    const volatile struct prof_trace_record *from = record;

    return (struct part){record->at & ~PROF_TRACE_HELD, from->a, from->b,
                         from->what};
}

static uint32_t at_of(const struct prof_trace_record *record)
{
    return __atomic_load_n(&record->at, __ATOMIC_ACQUIRE);
}

/* Takes the record of position (at) from the ring. False: an interrupt has come
 * and set it aside. */
static bool take_from_ring(struct prof_trace_record *record, uint32_t at)
{
    struct part part = copy_of(record);

    PROF_TRACE_ORDERED();
    if (at_of(record) != at + PROF_TRACE_HELD)
        return false;
    take(&part);
    (void)change(&record->at, at + PROF_TRACE_HELD, at);
    return true;
}

static void take_from_aside(uint32_t at)
{
    for (uint32_t i = 0; i < follow.aside && i < ASIDE_MAX; i++)
        if (follow.parts[i].at == at)
            take(&follow.parts[i]);
}

/* Position (until), or that after the last one set aside, if it is later. */
static uint32_t end_of(uint32_t until, uint32_t aside)
{
    for (uint32_t i = 0; i < aside && i < ASIDE_MAX; i++)
        if (!is_before(follow.parts[i].at, until))
            until = follow.parts[i].at + PROF_TRACE_STEP;
    return until;
}

/* Takes what comes before (until). */
static void take_until(const struct prof_trace_cpu *cpu, uint32_t until)
{
    uint32_t at = follow.tail;

    for (; is_before(at, until); at += PROF_TRACE_STEP) {
        struct prof_trace_record *record = prof_trace_slot(cpu, at);

        if (at_of(record) == at + PROF_TRACE_HELD && take_from_ring(record, at))
            continue;
        if (follow.aside != 0)
            take_from_aside(at);
    }
    follow.tail = at;
}

static bool begin(void)
{
    bool busy;

    __asm__ volatile("btsl $0, %1"
                     : "=@ccc"(busy), "+m"(follow.busy)
                     :
                     : "memory");
    return !busy;
}

/* Passes over what was overwritten long ago: nothing that was held. Whoever is
 * about to overwrite something has taken a position, and so have interrupts in
 * the middle of that; hence two rings. */
static void catch_up(const struct prof_trace_cpu *cpu)
{
    const uint32_t ring = cpu->mask + 1;

    if (cpu->head - follow.tail > 4 * ring && follow.aside == 0)
        follow.tail = cpu->head - 2 * ring;
}

/* Takes what comes before (until), and what is set aside meanwhile; if nobody
 * else is at it. */
static void go_on(const struct prof_trace_cpu *cpu, uint32_t until)
{
    uint32_t aside;

    if (!begin())
        return;
    catch_up(cpu);
    do {
        aside = __atomic_load_n(&follow.aside, __ATOMIC_RELAXED);
        take_until(cpu, end_of(until, aside));
    } while (!change(&follow.aside, aside, 0));
    __atomic_store_n(&follow.busy, 0, __ATOMIC_RELEASE);
}

/* FOLLOW_AHEAD records after position (at), if there are as many. */
static uint32_t ahead_of(const struct prof_trace_cpu *cpu, uint32_t at)
{
    const uint32_t ahead = FOLLOW_AHEAD * PROF_TRACE_STEP;
    const uint32_t head = __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);

    return head - at > ahead ? at + ahead : head;
}

void prof_follow(const struct prof_trace_cpu *cpu, bool panic)
{
    const uint32_t until = __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);

    if (panic)
        follow.busy = 0;
    while (follow.busy == 0 && is_before(follow.tail, until))
        go_on(cpu, ahead_of(cpu, follow.tail));
}

/* Sets (record) aside. False: no room. */
static bool set_aside(const struct prof_trace_record *record)
{
    uint32_t number = 1;

    __asm__ volatile("xaddl %0, %1"
                     : "+r"(number), "+m"(follow.aside)
                     :
                     : "cc");
    if (number >= ASIDE_MAX)
        return false;
    follow.parts[number] = copy_of(record);
    return true;
}

bool prof_follow_release(const struct prof_trace_cpu *cpu,
                         struct prof_trace_record *record)
{
    uint32_t found = at_of(record), at = found & ~PROF_TRACE_HELD;

    if (!is_held(found))
        return found == at; /* an interrupt has released it, or is it written */
    go_on(cpu, ahead_of(cpu, at));
    if (at_of(record) != at && !set_aside(record))
        return false;
    (void)change(&record->at, found, at);
    return true;
}
