/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the calls of <prof/trace.h> come to while something is recorded. How
 * many instructions each takes is a row of `make bench`.
 */

#include "trace/recorder.h"

#include "trace/names.h"
#include "trace/objects.h"
#include "trace/stacks.h"

uint32_t prof_trace_on;
struct prof_trace_cpu prof_trace_cpus[1];

static inline struct prof_trace_cpu *here(void)
{
    return &prof_trace_cpus[0];
}

void prof_trace_ring_open(struct prof_trace_cpu *cpu,
                          struct prof_trace_record *records, uint32_t slots)
{
    uint32_t positions = slots * PROF_TRACE_STEP;

    *cpu = (struct prof_trace_cpu){.mask = positions - 1, .records = records};
    for (uint32_t i = 0; i < slots; i++)
        records[i] = (struct prof_trace_record){
            .at = i * PROF_TRACE_STEP - positions}; /* of the lap before */
}

bool prof_trace_ring_read(const struct prof_trace_cpu *cpu, uint32_t at,
                          struct prof_trace_record *copy)
{
    const struct prof_trace_record *record = prof_trace_slot(cpu, at);

    if (__atomic_load_n(&record->at, __ATOMIC_ACQUIRE) != at)
        return false;
    *copy = *(const volatile struct prof_trace_record *)record;
    PROF_TRACE_ORDERED();
    return __atomic_load_n(&record->at, __ATOMIC_ACQUIRE) == at; /* (C) */
}

PROF_TRACE_CALL void prof_trace_put(uint32_t what, uint32_t a, uint32_t b)
{
    prof_trace_store(here(), what, a, b);
}

/* What is rare is in functions of its own, which do the rest of the call as
 * well: so the others need no registers but those that a call may change. */
#define RARE __attribute__((noinline, cold)) PROF_TRACE_CALL

RARE static void end_elsewhere(uint32_t what, uint32_t a, uint32_t b)
{
    prof_objects_end_elsewhere(a);
    prof_trace_store(here(), what, a, b);
}

PROF_TRACE_CALL void prof_trace_put_end(uint32_t what, uint32_t a, uint32_t b)
{
    if (__builtin_expect(!prof_objects_end(a), 0))
        end_elsewhere(what, a, b);
    else
        prof_trace_store(here(), what, a, b);
}

PROF_TRACE_CALL void prof_trace_put_switch(uint32_t to)
{
    struct prof_trace_cpu *cpu = here();
    uint32_t from = cpu->current;

    cpu->current = to;
    prof_trace_store(cpu, PROF_TRACE_DID_SWITCH, to, from);
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

PROF_TRACE_CALL void prof_trace_put_suspend(struct prof_trace_name *why)
{
    if (has_no_tag(why) || __builtin_expect(prof_trace_stacks.depth != 0, 0))
        prof_trace_put_stack(why, (uintptr_t)__builtin_return_address(0));
    else
        prof_trace_store(here(), PROF_TRACE_DID_SUSPEND | tag_of(why), 0, 0);
}

PROF_TRACE_CALL void prof_trace_put_fail(uint32_t a,
                                         struct prof_trace_name *name)
{
    prof_trace_put_end(with(PROF_TRACE_DID_FAIL, name), a, 0);
}

PROF_TRACE_CALL void prof_trace_put_label(uint32_t a,
                                          struct prof_trace_name *name)
{
    uint32_t what = with(PROF_TRACE_DID_LABEL, name);

    prof_objects_label(a, prof_trace_name_of(what));
    prof_trace_store(here(), what, a, 0);
}

RARE static void count_new(struct prof_trace_name *name, uint32_t low,
                           uint32_t high)
{
    prof_trace_store(here(), PROF_TRACE_DID_COUNT | prof_names_tag(name), low,
                     high);
}

PROF_TRACE_CALL void prof_trace_put_count(struct prof_trace_name *name,
                                          uint32_t low, uint32_t high)
{
    if (has_no_tag(name))
        count_new(name, low, high);
    else
        prof_trace_store(here(), PROF_TRACE_DID_COUNT | tag_of(name), low,
                         high);
}

PROF_TRACE_CALL void prof_trace_put_pause(struct prof_trace_name *name,
                                          uint32_t low, uint32_t high)
{
    prof_trace_store(here(), with(PROF_TRACE_DID_PAUSE, name), low, high);
}

/* An object whose site has no number yet, or whose slot is taken. */
RARE static uint32_t create_elsewhere(uint32_t object, uint32_t what,
                                      struct prof_trace_name *site)
{
    what = with(what, site);
    object = prof_objects_add_elsewhere(object, here()->current, what);
    prof_trace_store(here(), what, object, 0);
    return object;
}

PROF_TRACE_CALL uint32_t prof_trace_put_create(uint32_t what,
                                               struct prof_trace_name *site)
{
    struct prof_trace_cpu *cpu = here();
    uint32_t object = prof_objects_take();

    if (has_no_tag(site) || __builtin_expect(!prof_objects_claim(object), 0))
        return create_elsewhere(object, what, site);
    what |= tag_of(site);
    prof_objects_fill(object, cpu->current, what);
    prof_trace_store(cpu, what, object, 0);
    return object;
}

void prof_trace_put_text(uint32_t object, const char *text, size_t bytes)
{
    uint32_t number = prof_names_intern(text, bytes);

    prof_objects_label(object, number);
    prof_trace_store(here(), PROF_TRACE_DID_LABEL | number << 16, object, 0);
}

uint32_t prof_trace_get_current(void)
{
    return here()->current;
}
