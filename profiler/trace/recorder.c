/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the calls of <prof/trace.h> come to while something is recorded. How
 * many instructions each takes is a row of `make bench`.
 */

#include "trace/recorder.h"

#include "trace/names.h"
#include "trace/objects.h"
#include "trace/stacks.h"

struct prof_trace_cpu prof_trace_cpus[PROF_CPU_STATES] = {
    [0 ... PROF_CPU_STATES - 1] = {.due = UINT64_MAX},
};

void prof_trace_ring_open(struct prof_trace_cpu *cpu,
                          struct prof_trace_record *records, uint32_t slots)
{
    uint32_t positions = slots * PROF_TRACE_STEP;

    cpu->head = cpu->current = 0;
    cpu->mask = positions - 1;
    cpu->records = records;
    for (uint32_t i = 0; i < slots; i++)
        records[i] = (struct prof_trace_record){
            .at = i * PROF_TRACE_STEP - positions}; /* of the lap before */
}

static inline bool is_whole(uint32_t found, uint32_t at)
{
    return found == at || found == at + PROF_TRACE_HELD;
}

bool prof_trace_ring_read(const struct prof_trace_cpu *cpu, uint32_t at,
                          struct prof_trace_record *copy)
{
    const struct prof_trace_record *record = prof_trace_slot(cpu, at);

    if (!is_whole(__atomic_load_n(&record->at, __ATOMIC_ACQUIRE), at))
        return false;
    *copy = *(const volatile struct prof_trace_record *)record;
    PROF_TRACE_ORDERED();
    return is_whole(__atomic_load_n(&record->at, __ATOMIC_ACQUIRE), at); /* C */
}

PROF_TRACE_CALL bool prof_trace_claim_held(struct prof_trace_record *record)
{
    return prof_objects_release(prof_trace_cpu_here(), record) &&
           prof_trace_claim(record);
}

PROF_TRACE_CALL void prof_trace_put(uint32_t what, uint32_t a, uint32_t b)
{
    prof_trace_store(prof_trace_cpu_here(), what, a, b, 0);
}

/* For events that the table of objects needs, too. */
PROF_TRACE_CALL void prof_trace_put_end(uint32_t what, uint32_t a, uint32_t b)
{
    prof_trace_store(prof_trace_cpu_here(), what, a, b, PROF_TRACE_HELD);
}

PROF_TRACE_CALL void prof_trace_put_switch(uint32_t to)
{
    struct prof_trace_cpu *cpu = prof_trace_cpu_here();

    /* Changed last: a dump in the middle of this finds the switch, or who was
     * current before it. */
    if (!prof_trace_has_ring(cpu))
        return;
    prof_trace_store(cpu, PROF_TRACE_DID_SWITCH, to, cpu->current, 0);
    PROF_TRACE_ORDERED();
    cpu->current = to;
}

static inline uint32_t tag_of(const struct prof_trace_name *name)
{
    return __atomic_load_n(&name->tag, __ATOMIC_RELAXED);
}

static inline bool has_no_tag(const struct prof_trace_name *name)
{
    return __builtin_expect(tag_of(name) == 0, 0);
}

/* (what) with the name's number, which it may have to get first. */
static uint32_t with(uint32_t what, struct prof_trace_name *name)
{
    return what | (has_no_tag(name) ? prof_names_tag(name) : tag_of(name));
}

/* Rare cases finish the call in a function of their own, so that the common
 * ones need no registers but those that a call may change. */
#define RARE __attribute__((noinline, cold)) PROF_TRACE_CALL

PROF_TRACE_CALL void prof_trace_put_suspend(struct prof_trace_name *why)
{
    if (has_no_tag(why) || __builtin_expect(prof_trace_stacks[0].depth != 0, 0))
        prof_trace_put_stack(why, (uintptr_t)__builtin_return_address(0));
    else
        prof_trace_store(prof_trace_cpu_here(),
                         PROF_TRACE_DID_SUSPEND | tag_of(why), 0, 0, 0);
}

PROF_TRACE_CALL void prof_trace_put_fail(uint32_t a,
                                         struct prof_trace_name *name)
{
    prof_trace_put_end(with(PROF_TRACE_DID_FAIL, name), a, 0);
}

PROF_TRACE_CALL void prof_trace_put_label(uint32_t a,
                                          struct prof_trace_name *name)
{
    prof_trace_put_end(with(PROF_TRACE_DID_LABEL, name), a, 0);
}

RARE static void count_new(struct prof_trace_name *name, uint32_t low,
                           uint32_t high)
{
    prof_trace_store(prof_trace_cpu_here(),
                     PROF_TRACE_DID_COUNT | prof_names_tag(name), low, high, 0);
}

PROF_TRACE_CALL void prof_trace_put_count(struct prof_trace_name *name,
                                          uint32_t low, uint32_t high)
{
    if (has_no_tag(name))
        count_new(name, low, high);
    else
        prof_trace_store(prof_trace_cpu_here(),
                         PROF_TRACE_DID_COUNT | tag_of(name), low, high, 0);
}

/*
 * Adding in one piece, for interrupts and other CPUs, without a loop. On i386
 * that fails if an interrupt comes between reading and writing. Then the halves
 * are added one after the other, which makes the sum right as well; only a
 * second interrupt, between them, may see one without its carry.
 */
static inline void add_to(struct prof_trace_sum *sum, uint64_t delta)
{
#ifdef __i386__
    uint64_t seen = (uint64_t)sum->value, after = seen + delta;
    uint32_t *halves = (uint32_t *)&sum->value;
    bool done;

    __asm__ volatile("lock cmpxchg8b %1"
                     : "+A"(seen), "+m"(sum->value), "=@ccz"(done)
                     : "b"((uint32_t)after), "c"((uint32_t)(after >> 32)));
    if (!done)
        __asm__ volatile("lock addl %2, %0; lock adcl %3, %1"
                         : "+m"(halves[0]), "+m"(halves[1])
                         : "r"((uint32_t)delta), "r"((uint32_t)(delta >> 32))
                         : "cc");
#else
    (void)__atomic_fetch_add(&sum->value, (int64_t)delta, __ATOMIC_RELAXED);
#endif
}

/* In one piece: on i386 nothing is written but 0 over 0. */
static inline uint64_t sum_now(struct prof_trace_sum *sum)
{
#ifdef __i386__
    uint64_t now = 0;

    __asm__ volatile("lock cmpxchg8b %1"
                     : "+A"(now), "+m"(sum->value)
                     : "b"(0), "c"(0)
                     : "cc");
    return now;
#else
    return (uint64_t)__atomic_load_n(&sum->value, __ATOMIC_RELAXED);
#endif
}

/* The sum is read after the position was taken. So an event has all steps of
 * those before it, and the last one has all that there are. One that interrupts
 * have split may have theirs as well, though their events follow. */
PROF_TRACE_CALL void prof_trace_put_step(struct prof_trace_sum *sum,
                                         uint32_t low, uint32_t high)
{
    uint32_t what = with(PROF_TRACE_DID_COUNT, &sum->name), at;
    struct prof_trace_record *record;
    uint64_t now;

    (void)add_to(sum, (uint64_t)high << 32 | low);
    if (!prof_trace_begin(prof_trace_cpu_here(), &at, &record))
        return;
    now = sum_now(sum);
    record->what = what;
    record->a = (uint32_t)now;
    record->b = (uint32_t)(now >> 32);
    (void)prof_trace_end(record, at, 0);
}

PROF_TRACE_CALL void prof_trace_put_pause(struct prof_trace_name *name,
                                          uint32_t low, uint32_t high)
{
    prof_trace_store(prof_trace_cpu_here(), with(PROF_TRACE_DID_PAUSE, name),
                     low, high, 0);
}

/* An object that is not in the trace: there are no more numbers, or its event
 * was left out. */
RARE static uint32_t create_nothing(uint32_t object)
{
    prof_objects_give_back(prof_trace_cpu_here(), object);
    return PROF_TRACE_UNKNOWN;
}

/* (what) has the site's number. The object's number stays in the record, so
 * that it needs no register. */
static inline uint32_t create(struct prof_trace_cpu *cpu, uint32_t what)
{
    uint32_t object, at;
    struct prof_trace_record *record;

    if (!prof_trace_has_ring(cpu))
        return PROF_TRACE_UNKNOWN;
    object = prof_objects_take(cpu);
    if (__builtin_expect(object > PROF_OBJECTS_LAST, 0))
        return create_nothing(object);
    if (!prof_trace_begin(cpu, &at, &record))
        return create_nothing(object);
    record->what = what;
    record->a = object;
    PROF_TRACE_ORDERED();
    record->b = cpu->current;
    return prof_trace_end(record, at, PROF_TRACE_HELD);
}

RARE static uint32_t create_new(uint32_t what, struct prof_trace_name *site)
{
    return create(prof_trace_cpu_here(), what | prof_names_tag(site));
}

PROF_TRACE_CALL uint32_t prof_trace_put_create(uint32_t what,
                                               struct prof_trace_name *site)
{
    uint32_t tag = tag_of(site);

    if (__builtin_expect(tag == 0, 0))
        return create_new(what, site);
    return create(prof_trace_cpu_here(), what | tag);
}

void prof_trace_put_text(uint32_t object, const char *text, size_t bytes)
{
    prof_trace_put_end(
        PROF_TRACE_DID_LABEL | prof_names_intern(text, bytes) << 16, object, 0);
}

uint32_t prof_trace_get_current(void)
{
    const struct prof_trace_cpu *cpu = prof_trace_cpu_here();

    return prof_trace_has_ring(cpu) ? cpu->current : PROF_TRACE_UNKNOWN;
}
