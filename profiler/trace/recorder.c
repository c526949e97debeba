/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the calls of <prof/trace.h> come to while something is recorded. How
 * many instructions each takes is a row of `make bench`.
 */

#include "trace/recorder.h"

#include "trace/names.h"
#include "trace/objects.h"

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

PROF_TRACE_CALL void prof_trace_put_end(uint32_t what, uint32_t a, uint32_t b)
{
    prof_objects_end(a);
    prof_trace_store(here(), what, a, b);
}

PROF_TRACE_CALL void prof_trace_put_switch(uint32_t to)
{
    struct prof_trace_cpu *cpu = here();
    uint32_t from = cpu->current;

    cpu->current = to;
    prof_trace_store(cpu, PROF_TRACE_DID_SWITCH, to, from);
}

PROF_TRACE_CALL void prof_trace_put_named(uint32_t what, uint32_t a,
                                          struct prof_trace_name *name)
{
    prof_trace_store(here(), what | prof_name_number(name) << 16, a, 0);
}

PROF_TRACE_CALL void prof_trace_put_fail(uint32_t a,
                                         struct prof_trace_name *name)
{
    prof_trace_put_end(PROF_TRACE_DID_FAIL | prof_name_number(name) << 16, a,
                       0);
}

PROF_TRACE_CALL void prof_trace_put_label(uint32_t a,
                                          struct prof_trace_name *name)
{
    uint32_t number = prof_name_number(name);

    prof_objects_label(a, number);
    prof_trace_store(here(), PROF_TRACE_DID_LABEL | number << 16, a, 0);
}

PROF_TRACE_CALL void prof_trace_put_value(uint32_t what,
                                          struct prof_trace_name *name,
                                          uint64_t value)
{
    prof_trace_store(here(), what | prof_name_number(name) << 16,
                     (uint32_t)value, (uint32_t)(value >> 32));
}

PROF_TRACE_CALL uint32_t prof_trace_put_create(uint32_t kind,
                                               struct prof_trace_name *site)
{
    struct prof_trace_cpu *cpu = here();
    uint32_t rest = kind << 8 | prof_name_number(site) << 16;
    uint32_t object = prof_objects_add(cpu->current, rest);

    prof_trace_store(cpu, PROF_TRACE_DID_CREATE | rest, object, 0);
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
