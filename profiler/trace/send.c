/* SPDX-License-Identifier: Apache-2.0 */

/*
 * From the ring to the stream. While the transport refuses, records stay in the
 * ring, which overwrites them at last; then they are lost.
 */

#include "trace/send.h"

#include "base/cpu.h"
#include "stream/put.h"
#include "stream/stream.h"
#include "trace/follow.h"
#include "trace/objects.h"
#include "trace/phase.h"
#include "trace/reader.h"

/* Slots that are looked at for a new reader in each drain. */
#define ALIVE_MAX 512u

uint64_t prof_trace_due = UINT64_MAX;

static struct prof_trace_state *const state = &prof_trace_state;
static struct prof_trace_cpu *const cpu = &prof_trace_cpus[0];

static struct prof_trace_place room(uint64_t tsc, uint32_t bytes)
{
    struct prof_trace_place place;

    place.interning = prof_stream_room(tsc, bytes, &place.sequence);
    return place;
}

static uint32_t passed(void)
{
    return prof_trace_reader_passed(&state->stream);
}

void prof_trace_stream_open(uint32_t *notes)
{
    state->stream_sink = (struct prof_trace_sink){.room = room,
                                                  .put = prof_stream_put,
                                                  .soon = prof_stream_soon,
                                                  .passed = passed,
                                                  .notes = notes,
                                                  .sequence = UINT32_MAX};
}

/* Sends what comes until (limit). False: the transport refuses. */
static bool send_until(uint64_t limit)
{
    uint32_t head = __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);
    struct prof_trace_record record;
    uint64_t tsc;

    while (prof_trace_reader_next(&state->stream, cpu, head, &record, &tsc)) {
        if (tsc > limit) {
            prof_trace_due = tsc;
            return true;
        }
        if (!prof_trace_reader_put(&state->stream, cpu, &state->stream_sink,
                                   &record, tsc))
            return false;
    }
    prof_trace_due = 0; /* what comes next is not known */
    return true;
}

void prof_trace_send_until(uint64_t tsc)
{
    if (prof_stream_on() && !send_until(tsc))
        prof_trace_due = UINT64_MAX; /* until the next drain */
}

/* Sends the objects that live, for a new reader. */
static void send_objects(uint64_t tsc)
{
    for (uint32_t i = 0; i < ALIVE_MAX; i++) {
        if (state->objects_sent > prof_objects.mask)
            return;
        if (!prof_trace_put_alive(&state->stream_sink, tsc, state->objects_sent,
                                  false))
            return;
        state->objects_sent++;
    }
}

void prof_trace_send_rest(void)
{
    if (!prof_stream_on() || !send_until(UINT64_MAX))
        return;
    (void)prof_trace_reader_put_lost(&state->stream, cpu, &state->stream_sink);
    send_objects(state->stream.tsc);
}

bool prof_trace_is_filling(void)
{
    return prof_trace_phase() == PROF_TRACE_PHASE_STREAM && prof_stream_on() &&
           cpu->head - state->stream.tail > cpu->mask / 4;
}

void prof_trace_flush(void)
{
    const enum prof_trace_phase phase = prof_trace_phase();

    if (phase != PROF_TRACE_PHASE_OFF)
        prof_follow(cpu, false);
    if (phase == PROF_TRACE_PHASE_STREAM) {
        prof_trace_send_rest();
        prof_trace_due = prof_stream_on() ? 0 : UINT64_MAX;
    } else if (phase == PROF_TRACE_PHASE_ARMED) {
        prof_trace_reader_catch_up(&state->history, cpu);
    } else if (phase != PROF_TRACE_PHASE_OFF) {
        prof_trace_history_dump();
    }
}

void prof_trace_hello(void)
{
    state->objects_sent = 0;
    if (prof_trace_mode() == PROF_TRACE_STREAM && prof_stream_on())
        prof_trace_due = 0;
}

/* A panic is a trigger: so a dump that is being made has its events, too. */
void prof_trace_last(bool panic)
{
    const enum prof_trace_mode mode = prof_trace_mode();

    if (mode == PROF_TRACE_OFF)
        return;
    if (mode == PROF_TRACE_FLIGHT && panic)
        prof_trace_trigger();
    else
        prof_trace_phase_begin(PROF_TRACE_OFF);
    prof_follow(cpu, panic);
    if (mode == PROF_TRACE_STREAM) {
        prof_trace_send_rest();
        if (prof_stream_on() && state->stream_sink.bytes != 0)
            (void)prof_trace_encode_count(&state->stream_sink,
                                          state->stream.tsc);
    } else if (panic && prof_stream_on()) {
        prof_trace_history_dump();
    }
    prof_trace_phase_begin(PROF_TRACE_OFF);
}
