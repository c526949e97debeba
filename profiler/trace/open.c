/* SPDX-License-Identifier: Apache-2.0 */

/* The recorder's memory and its modes. */

#include "base/busy.h"
#include "base/cpu.h"
#include "stream/put.h"
#include "stream/stream.h"
#include "trace/follow.h"
#include "trace/names.h"
#include "trace/objects.h"
#include "trace/phase.h"
#include "trace/reader.h"
#include "trace/send.h"
#include "trace/stacks.h"

#include <prof/error.h>
#include <prof/trace.h>

#define PARTS 8u
#define RECORD_PARTS 4u
#define OBJECT_PARTS 2u

static struct prof_trace_state *const state = &prof_trace_state;
static struct prof_trace_cpu *const cpu = &prof_trace_cpus[0];

/* As many of (bytes) each as have room in (part) eighths of (all): a power of
 * two. */
static uint32_t count_in(size_t all, uint32_t part, size_t bytes)
{
    uint32_t count = 1;

    while (count < 1u << 24 && count * 2 * bytes <= all / PARTS * part)
        count *= 2;
    return count;
}

int prof_trace_open(void *memory, size_t bytes)
{
    uint32_t records, objects;
    struct prof_trace_record *record;
    struct prof_object *object;
    struct prof_packet_maker *packet = memory;
    unsigned char *end = (unsigned char *)memory + bytes, *rest;

    if (memory == NULL || (uintptr_t)memory % 8 != 0 ||
        bytes < PROF_TRACE_MEMORY_MIN)
        return PROF_EMEMORY;
    if (cpu->records != NULL)
        return PROF_ESTATE;
    bytes -= sizeof *packet; /* of dumps; the rest is shared */
    records = count_in(bytes, RECORD_PARTS, sizeof *record);
    objects = count_in(bytes, OBJECT_PARTS, sizeof *object);
    record = (void *)(packet + 1);
    object = (void *)(record + records);
    rest = (void *)(object + objects);
    prof_trace_ring_open(cpu, record, records);
    prof_follow_open(cpu);
    prof_objects_open(object, objects);
    prof_names_open(rest, (size_t)(end - rest));
    *state = (struct prof_trace_state){.objects_sent = objects};
    prof_trace_stream_open(prof_names.notes[0]);
    prof_trace_history_open(packet, prof_names.notes[1], prof_names.room);
    return PROF_OK;
}

/* Forgets what is in the ring. */
static void begin_here(struct prof_trace_reader *reader)
{
    reader->tail = cpu->head;
    reader->unsure = false;
}

/* From mode (before) to another. */
static void change(enum prof_trace_mode before, enum prof_trace_mode mode)
{
    prof_trace_flush(); /* a dump that is due, too */
    prof_trace_phase_begin(PROF_TRACE_OFF);
    if (before == PROF_TRACE_STREAM) {
        prof_trace_send_rest(); /* what came meanwhile */
        prof_trace_reader_drop(&state->stream, cpu);
    } else if (before == PROF_TRACE_FLIGHT) {
        prof_trace_history_forget();
    }
    prof_trace_due = UINT64_MAX;
    if (mode == PROF_TRACE_OFF)
        return;
    cpu->current = state->stream_sink.current = PROF_TRACE_UNKNOWN;
    begin_here(mode == PROF_TRACE_STREAM ? &state->stream : &state->history);
    if (mode == PROF_TRACE_STREAM && prof_stream_on())
        prof_trace_due = 0;
    prof_trace_phase_begin(mode);
}

int prof_trace_set_mode(enum prof_trace_mode mode)
{
    const enum prof_trace_mode before = prof_trace_mode();

    if (mode == before)
        return PROF_OK;
    if (cpu->records == NULL)
        return PROF_EMEMORY;
    prof_enter();
    change(before, mode);
    prof_leave();
    return PROF_OK;
}

int prof_trace_dump(void)
{
    if (prof_trace_mode() != PROF_TRACE_FLIGHT)
        return PROF_EFLIGHT;
    prof_trace_history_dump();
    return PROF_OK;
}

void prof_trace_stats(struct prof_trace_stats *stats)
{
    if (cpu->records != NULL)
        prof_follow(cpu, false);
    *stats = (struct prof_trace_stats){
        .events = state->stream.read + state->history.read,
        .lost = state->stream.missed,
        .sent = state->sent,
        .bytes = state->stream_sink.bytes + prof_trace_history_bytes(),
        .objects = prof_objects.next != 0 ? prof_objects.next - 1 : 0,
        .untracked = prof_objects.untracked,
        .names = prof_names_count(),
        .names_lost = prof_names.lost,
        .names_cut = prof_names.cut,
        .stacks = prof_trace_stacks.count,
        .stacks_lost = prof_trace_stacks.lost,
        .dumps = state->dumps,
    };
}
