/* SPDX-License-Identifier: Apache-2.0 */

/* The table of objects, and how it follows the ring; see objects.h. */

#include "trace/objects.h"

#include <prof/trace.h>

#define FOLLOW_AHEAD 64u

#if PROF_CPUS_MAX > 1
uint32_t prof_objects_shift;

void prof_objects_divide(uint32_t cpus)
{
    prof_objects_shift = 0;
    while (PROF_OBJECTS_STRIDE < cpus)
        prof_objects_shift++;
}
#else
void prof_objects_divide(uint32_t cpus)
{
    (void)cpus;
}
#endif

void prof_objects_open(struct prof_trace_cpu *cpu, struct prof_object *table,
                       uint32_t slots)
{
    uint32_t next = cpu->objects.next != 0
                        ? cpu->objects.next
                        : PROF_OBJECTS_STRIDE + prof_trace_cpu_number(cpu);

    cpu->objects = (struct prof_objects){table, slots - 1, next, 0};
    for (uint32_t i = 0; i < slots; i++)
        table[i] = (struct prof_object){0};
}

/* The CPU that has created (object), a number that was given. */
static struct prof_trace_cpu *owner_of(uint32_t object)
{
    return PROF_CPUS_MAX == 1
               ? &prof_trace_cpus[0]
               : &prof_trace_cpus[object & (PROF_OBJECTS_STRIDE - 1)];
}

static struct prof_object *slot_of(uint32_t object, uint32_t probe)
{
    const struct prof_objects *objects = &owner_of(object)->objects;

    return &objects->slots[((object >> PROF_OBJECTS_SHIFT) + probe) &
                           objects->mask];
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
        owner_of(object)->objects.untracked++;
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

#if PROF_CPUS_MAX > 1
/* Gives (slot) the label (label) if it is (object)'s, in one instruction: its
 * CPU may use it for the next object at any time. If another CPU gives it a
 * label meanwhile, this one came before that. */
static void label_if(struct prof_object *slot, uint32_t object, uint32_t label)
{
    uint32_t is_object = object;
    uint32_t is_label = __atomic_load_n(&slot->label, __ATOMIC_RELAXED);

    _Static_assert(offsetof(struct prof_object, object) % 8 == 0 &&
                       offsetof(struct prof_object, label) ==
                           offsetof(struct prof_object, object) + 4,
                   "number and label must be eight bytes that are aligned");
    __asm__ volatile("lock cmpxchg8b %0"
                     : "+m"(slot->object), "+a"(is_object), "+d"(is_label)
                     : "b"(object), "c"(label)
                     : "memory", "cc");
}

/* What this CPU says of another one's object. That CPU does not use its slot
 * for another object while it lives; so nothing is ended that should not be,
 * unless both end it, which is misuse. A label may come after the end. False:
 * it is not there. */
static bool update_owner(uint32_t object, uint32_t what)
{
    struct prof_object *slot = prof_objects_find(object);

    if (slot == NULL)
        return false;
    if (prof_trace_what_of(what) == PROF_TRACE_DID_LABEL)
        label_if(slot, object, prof_trace_name_of(what));
    else
        (void)__atomic_fetch_and(&slot->state, ~PROF_OBJECT_LIVE,
                                 __ATOMIC_RELEASE);
    return true;
}

/* Whether (object) is among the first (count) strays: what comes later waits
 * for them, or the last label would not be that of the last record. */
static bool is_stray(const struct prof_trace_strays *strays, uint32_t count,
                     uint32_t object)
{
    for (uint32_t i = 0; i < count; i++)
        if (strays->all[i].a == object)
            return true;
    return false;
}

/* The creation of (object) was recorded before this, by its CPU, which may not
 * have followed its ring until there. */
static void take_foreign(struct prof_trace_cpu *cpu,
                         const struct prof_trace_aside *part)
{
    struct prof_trace_strays *strays = &cpu->strays;
    const struct prof_trace_cpu *owner = owner_of(part->a);

    if (part->a > PROF_OBJECTS_LAST || part->a < PROF_OBJECTS_STRIDE ||
        owner->records == NULL ||
        (!is_stray(strays, strays->count, part->a) &&
         update_owner(part->a, part->what)))
        return;
    if (strays->count == PROF_TRACE_STRAYS_MAX) {
        cpu->objects.untracked++;
        return;
    }
    strays->all[strays->count++] = (struct prof_trace_stray){
        part->a, part->what, __atomic_load_n(&owner->head, __ATOMIC_ACQUIRE)};
}

/* Tries again what is not done, in the same order, and forgets what will never
 * be: an object that its CPU's part had no room for. */
static void take_strays(struct prof_trace_cpu *cpu)
{
    struct prof_trace_strays *strays = &cpu->strays;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < strays->count; i++) {
        const struct prof_trace_stray stray = strays->all[i];
        uint32_t tail = __atomic_load_n(&owner_of(stray.a)->follower.tail,
                                        __ATOMIC_ACQUIRE);

        if (is_stray(strays, kept, stray.a) ||
            (!update_owner(stray.a, stray.what) &&
             is_before(tail, stray.until)))
            strays->all[kept++] = stray;
    }
    strays->count = kept;
}
#endif

static void take_record(struct prof_trace_cpu *cpu,
                        const struct prof_trace_aside *part)
{
    const uint32_t what = prof_trace_what_of(part->what);

    if (what == PROF_TRACE_DID_CREATE)
        begin_object(part->a, part->b, part->what);
#if PROF_CPUS_MAX > 1
    else if (owner_of(part->a) != cpu)
        take_foreign(cpu, part);
#endif
    else if (what == PROF_TRACE_DID_LABEL)
        label_object(part->a, prof_trace_name_of(part->what));
    else
        end_object(part->a);
    (void)cpu;
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
static bool take_from_ring(struct prof_trace_cpu *cpu,
                           struct prof_trace_record *record, uint32_t at)
{
    struct prof_trace_aside part = copy_of(record);

    PROF_TRACE_ORDERED();
    if (at_of(record) != at + PROF_TRACE_HELD)
        return false;
    take_record(cpu, &part);
    (void)replace_word(&record->at, at + PROF_TRACE_HELD, at);
    return true;
}

static void take_from_aside(struct prof_trace_cpu *cpu, uint32_t at)
{
    for (uint32_t i = 0; i < cpu->follower.count && i < PROF_TRACE_ASIDE_MAX;
         i++)
        if (cpu->follower.aside[i].at == at)
            take_record(cpu, &cpu->follower.aside[i]);
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

        if (at_of(record) == at + PROF_TRACE_HELD &&
            take_from_ring(cpu, record, at))
            continue;
        if (cpu->follower.count != 0)
            take_from_aside(cpu, at);
    }
    __atomic_store_n(&cpu->follower.tail, at, __ATOMIC_RELEASE);
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
#if PROF_CPUS_MAX > 1
    take_strays(cpu);
#endif
    do {
        aside = __atomic_load_n(&cpu->follower.count, __ATOMIC_RELAXED);
        take_until(cpu, end_of(cpu, until, aside));
    } while (!replace_word(&cpu->follower.count, aside, 0));
    __atomic_store_n(&cpu->follower.busy, 0, __ATOMIC_RELEASE);
}

#if PROF_CPUS_MAX > 1
void prof_objects_again(struct prof_trace_cpu *cpu)
{
    update_until(cpu, cpu->follower.tail);
}
#endif

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

bool prof_objects_read(const struct prof_trace_cpu *cpu, uint32_t number,
                       struct prof_object *copy)
{
    const struct prof_object *slot = &cpu->objects.slots[number];

    /* The number comes first: while it is the same, all else is its own, unless
     * the state is 0. */
    copy->object = __atomic_load_n(&slot->object, __ATOMIC_ACQUIRE);
    copy->state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
    copy->creator = __atomic_load_n(&slot->creator, __ATOMIC_ACQUIRE);
    copy->label = __atomic_load_n(&slot->label, __ATOMIC_ACQUIRE);
    return (copy->state & PROF_OBJECT_USED) != 0 &&
           __atomic_load_n(&slot->object, __ATOMIC_ACQUIRE) == copy->object;
}
