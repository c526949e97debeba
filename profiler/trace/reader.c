/* SPDX-License-Identifier: Apache-2.0 */

/* Reads the ring; see recorder.h for what may happen to it meanwhile. */

#include "trace/reader.h"

#include "sample/cpus.h"
#include "stream/put.h"
#include "trace/objects.h"

void prof_trace_reader_open(struct prof_trace_reader *reader,
                            const struct prof_trace_cpu *cpu,
                            struct prof_packet_writer *to, uint32_t *notes)
{
    *reader = (struct prof_trace_reader)
    {
        .tail = cpu->head,
#if PROF_CPUS_MAX > 1
        .cpu = cpu,
#endif
        .to = to, .notes = notes, .packet = UINT32_MAX,
    };
}

static uint32_t slots(const struct prof_trace_cpu *cpu)
{
    return (cpu->mask + 1) / PROF_TRACE_STEP;
}

static void lose(struct prof_trace_reader *reader, uint32_t events)
{
    reader->tail += events * PROF_TRACE_STEP;
    reader->lost += events;
    reader->missed += events;
    reader->read += events;
}

static bool is_overwritten(const struct prof_trace_cpu *cpu, uint32_t at)
{
    uint32_t head = __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);

    return (head - at) / PROF_TRACE_STEP > slots(cpu);
}

void prof_trace_reader_catch_up(struct prof_trace_reader *reader,
                                const struct prof_trace_cpu *cpu)
{
    uint32_t head = __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);
    uint32_t waiting = (head - reader->tail) / PROF_TRACE_STEP;

    if (waiting > slots(cpu))
        lose(reader, waiting - slots(cpu));
}

void prof_trace_reader_drop(struct prof_trace_reader *reader,
                            const struct prof_trace_cpu *cpu)
{
    lose(reader, (cpu->head - reader->tail) / PROF_TRACE_STEP);
}

/* The time of (record), which is at position (at): not after that of the next,
 * which an interrupt may have written in the middle of this one. */
static uint64_t time_of(const struct prof_trace_cpu *cpu, uint32_t at,
                        const struct prof_trace_record *record)
{
    uint64_t tsc = prof_trace_record_tsc(record), after;
    struct prof_trace_record next;

    if (!prof_trace_ring_read(cpu, at + PROF_TRACE_STEP, &next))
        return tsc;
    after = prof_trace_record_tsc(&next);
    return after < tsc ? after : tsc;
}

/* Whether the record at the reader's place, which is not whole, may still be
 * written, by another CPU, and is waited for: as long as there is room. One
 * that was skipped (B) is not known from it. */
static bool may_come(const struct prof_trace_reader *reader,
                     const struct prof_trace_cpu *cpu)
{
#if PROF_CPUS_MAX > 1
    uint32_t head = __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);

    return !prof_trace_hurries && cpu != prof_trace_cpu_here() &&
           head - reader->tail <= cpu->mask / 2;
#else
    (void)reader;
    (void)cpu;
    return false;
#endif
}

bool prof_trace_reader_next(struct prof_trace_reader *reader,
                            const struct prof_trace_cpu *cpu, uint32_t until,
                            struct prof_trace_record *record, uint64_t *tsc)
{
    prof_trace_reader_catch_up(reader, cpu);
    while ((int32_t)(until - reader->tail) > 0) {
        if (prof_trace_ring_read(cpu, reader->tail, record)) {
            *tsc = time_of(cpu, reader->tail, record);
            if (*tsc < reader->tsc)
                *tsc = reader->tsc;
            return true;
        }
        if (may_come(reader, cpu))
            return false;
        lose(reader, 1);
        prof_trace_reader_catch_up(reader, cpu);
    }
    return false;
}

uint32_t prof_trace_current_at(const struct prof_trace_cpu *cpu, uint32_t at)
{
    /* on another CPU who is current changes meanwhile: its switch is then
       before the head, which is read later */
    uint32_t begin = at,
             found = __atomic_load_n(&cpu->current, __ATOMIC_ACQUIRE);
    uint32_t head = __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);
    struct prof_trace_record record;

    for (; (int32_t)(head - at) > 0; at += PROF_TRACE_STEP)
        if (prof_trace_ring_read(cpu, at, &record) &&
            prof_trace_what_of(record.what) == PROF_TRACE_DID_SWITCH) {
            found = record.b;
            break;
        }
    /* Meanwhile the switch that it was may have been overwritten. */
    return is_overwritten(cpu, begin) ? PROF_TRACE_UNKNOWN : found;
}

bool prof_trace_reader_put_lost(struct prof_trace_reader *reader,
                                const struct prof_trace_cpu *cpu)
{
    struct prof_trace_record now = {.what = PROF_TRACE_DID_SWITCH};

    if (reader->lost != 0) {
        if (!prof_trace_encode_plain(reader, PROF_EVENT_LOST, reader->tsc,
                                     &reader->lost, sizeof reader->lost))
            return false;
        reader->lost = 0;
        reader->unsure = true;
    }
    if (!reader->unsure)
        return true;
    now.a = prof_trace_current_at(cpu, reader->tail);
    if (!prof_trace_encode(reader, reader->tsc, &now))
        return false;
    reader->unsure = false;
    return true;
}

bool prof_trace_reader_put(struct prof_trace_reader *reader,
                           const struct prof_trace_cpu *cpu,
                           const struct prof_trace_record *record, uint64_t tsc)
{
    if (!prof_trace_reader_put_lost(reader, cpu) ||
        !prof_trace_encode(reader, tsc, record))
        return false;
    reader->tsc = tsc;
    reader->tail += PROF_TRACE_STEP;
    reader->read++;
    return true;
}

bool prof_trace_put_alive(struct prof_trace_reader *reader, uint64_t tsc,
                          uint32_t number, bool ended)
{
    struct prof_object object;
    struct prof_event_alive alive;

    if (!prof_objects_read(prof_trace_reader_cpu(reader), number, &object) ||
        (!ended && (object.state & PROF_OBJECT_LIVE) == 0))
        return true;
    alive = (struct prof_event_alive){
        .object = object.object,
        .creator = object.creator,
        .object_kind = (uint8_t)(object.state >> 8),
        .ended = (object.state & PROF_OBJECT_LIVE) == 0,
        .site = (uint16_t)(object.state >> 16),
        .label = (uint16_t)object.label,
    };
    return prof_trace_encode_name(reader, tsc, alive.site) &&
           prof_trace_encode_name(reader, tsc, alive.label) &&
           prof_trace_encode_plain(reader, PROF_EVENT_ALIVE, tsc, &alive,
                                   sizeof alive);
}
