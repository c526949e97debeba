/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Dumps of the flight recorder: what the ring holds since the last dump, in
 * packets of their own. It is older than what the stream has sent already, and
 * time never goes back in a stream; so to a reader these packets come from
 * another CPU.
 *
 * Recording goes on meanwhile, except after a trigger (phase.h). What is
 * overwritten before the dump has come to it is marked as lost. Where the
 * transport refuses, the dump goes on at the next drain.
 */

#include "trace/reader.h"

#include "stream/put.h"
#include "trace/follow.h"
#include "trace/objects.h"
#include "trace/phase.h"
#include "trace/stacks.h"

#include <prof/transport.h>

#define DUMP_ATTEMPTS 8u /* to send a packet, each time */

static struct prof_trace_state *const state = &prof_trace_state;
static struct prof_trace_cpu *const cpu = &prof_trace_cpus[0];

static struct prof_packet_maker *packet; /* in the recorder's memory */

static struct {
    bool begun;        /* HISTORY was put */
    uint32_t until;    /* position at which the dump ends */
    uint32_t object;   /* next slot of the table */
    uint64_t begin;    /* time of its first event */
    uint32_t before;   /* events passed before it */
    uint32_t sequence; /* of the packet in the making */
    uint8_t uuid[16];  /* of the stream that it is for */
    struct prof_interning interning;
    uint32_t names; /* room for notes */
    struct prof_trace_sink sink;
} history;

/* Sends the packet in the making. False: refused, it stays. */
static bool send_packet(const struct prof_stream_link *link)
{
    struct prof_packet_label label = {.sequence = history.sequence,
                                      .cpu = PROF_CPU_HISTORY};
    bool taken = false;

    if (packet->used == 0)
        return true;
    if (packet->bytes == 0) {
        __builtin_memcpy(label.uuid, link->uuid, sizeof label.uuid);
        prof_packet_close(packet, &label);
    }
    for (unsigned i = 0; i < DUMP_ATTEMPTS && !taken; i++)
        taken = link->transport->send(packet->data, packet->bytes);
    if (!taken)
        return false;
    history.sequence++;
    prof_packet_clear(packet);
    return true;
}

static uint64_t clock_at(const struct prof_stream_link *link, uint64_t tsc)
{
    uint64_t clock = prof_stream_clock_at(link->clock, tsc);

    return packet->used != 0 && clock < packet->end ? packet->end : clock;
}

static struct prof_trace_place room(uint64_t tsc, uint32_t bytes)
{
    const struct prof_stream_link *link = prof_stream_link();
    const uint32_t clock_bytes =
        prof_packet_event_bytes(PROF_EVENT_CLOCK, sizeof(uint64_t));
    uint64_t clock;

    if (link == NULL)
        return (struct prof_trace_place){NULL, 0};
    clock = clock_at(link, tsc);
    if ((packet->bytes != 0 ||
         !prof_packet_fits(packet, bytes + clock_bytes)) &&
        !send_packet(link))
        return (struct prof_trace_place){NULL, 0};
    packet->text_begin = link->text_begin;
    if (packet->used != 0 &&
        (clock - packet->end) >> (PROF_EVENT_TIME_BITS - 1) != 0)
        prof_packet_put(packet, PROF_EVENT_CLOCK, clock, &clock, sizeof clock);
    return (struct prof_trace_place){&history.interning, history.sequence};
}

static bool put(enum prof_event kind, uint64_t tsc, const void *fields,
                uint32_t bytes)
{
    prof_packet_put(packet, kind, clock_at(prof_stream_link(), tsc), fields,
                    bytes);
    return true;
}

static bool soon(uint64_t tsc)
{
    return prof_packet_is_soon(packet, clock_at(prof_stream_link(), tsc));
}

static uint32_t head(void)
{
    return __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);
}

static uint32_t passed(void)
{
    return prof_trace_reader_passed(&state->history) - history.before;
}

void prof_trace_history_open(struct prof_packet_maker *memory, uint32_t *notes,
                             uint32_t names)
{
    packet = memory;
    prof_packet_clear(packet);
    history.names = names;
    history.sink = (struct prof_trace_sink){.room = room,
                                            .put = put,
                                            .soon = soon,
                                            .passed = passed,
                                            .notes = notes,
                                            .number = 1};
}

uint64_t prof_trace_history_bytes(void)
{
    return history.sink.bytes;
}

static bool is_for(const struct prof_stream_link *link)
{
    for (uint32_t i = 0; i < sizeof history.uuid; i++)
        if (history.uuid[i] != link->uuid[i])
            return false;
    return true;
}

/* A stream has begun since the last dump: packets and names count anew. */
static void join_stream(const struct prof_stream_link *link)
{
    if (!is_for(link))
        history.sequence = 0;
    __builtin_memcpy(history.uuid, link->uuid, sizeof history.uuid);
}

static void end(void)
{
    prof_packet_clear(packet);
    prof_trace_phase_dumped();
}

/* Each dump defines the names that it mentions. */
static void begin(void)
{
    const struct prof_stream_link *link = prof_stream_link();
    struct prof_trace_record first;

    prof_follow(cpu, false);
    prof_trace_phase_dump();
    if (link == NULL) { /* nobody would see it */
        end();
        return;
    }
    join_stream(link);
    for (uint32_t i = 0; i < history.names; i++)
        history.sink.notes[i] = 0;
    for (uint32_t i = 1; i <= prof_trace_stacks.count; i++)
        prof_trace_stack_at(i)->notes[history.sink.number] = 0;
    history.sink.sequence = UINT32_MAX;
    history.sink.current = PROF_TRACE_UNKNOWN;
    history.object = 0;
    history.begun = false;
    history.until = head();
    if (!prof_trace_reader_next(&state->history, cpu, history.until, &first,
                                &history.begin))
        history.begin = state->history.tsc;
    state->history.lost = 0; /* HISTORY says that there was more */
    history.before = prof_trace_reader_passed(&state->history);
}

/* The position at which the dump ends: with all there is, if no more comes. */
static uint32_t until(void)
{
    return prof_trace_phase() == PROF_TRACE_PHASE_FINISHING ? head()
                                                            : history.until;
}

/* What a dump begins with. False: no room for all of it yet. */
static bool put_beginning(void)
{
    struct prof_trace_record now = {.what = PROF_TRACE_DID_SWITCH};

    if (!history.begun &&
        !prof_trace_encode_plain(&history.sink, PROF_EVENT_HISTORY,
                                 history.begin, NULL, 0))
        return false;
    history.begun = true;
    for (; history.object <= prof_objects.mask; history.object++)
        if (!prof_trace_put_alive(&history.sink, history.begin, history.object,
                                  true))
            return false;
    if (history.object == prof_objects.mask + 1) {
        now.a = prof_trace_current_at(cpu, state->history.tail);
        if (!prof_trace_encode(&history.sink, history.begin, &now))
            return false;
        history.object++;
    }
    return true;
}

/* False: no room for all of them yet. */
static bool put_events(void)
{
    struct prof_trace_record record;
    uint64_t tsc;

    while (prof_trace_reader_next(&state->history, cpu, until(), &record, &tsc))
        if (!prof_trace_reader_put(&state->history, cpu, &history.sink, &record,
                                   tsc))
            return false;
    return prof_trace_reader_put_lost(&state->history, cpu, &history.sink) &&
           prof_trace_encode_count(&history.sink, state->history.tsc);
}

void prof_trace_history_go_on(void)
{
    const struct prof_stream_link *link = prof_stream_link();

    if (!prof_trace_phase_dumps())
        return;
    if (link == NULL || !is_for(link)) { /* it ends with its stream */
        end();
        return;
    }
    if (!put_beginning())
        return;
    do { /* a trigger may come while the last of it is sent */
        if (!put_events() || !send_packet(prof_stream_link()))
            return;
    } while ((int32_t)(until() - state->history.tail) > 0);
    state->dumps++;
    end();
}

void prof_trace_history_dump(void)
{
    if (!prof_trace_phase_dumps())
        begin();
    prof_trace_history_go_on();
}

void prof_trace_history_forget(void)
{
    end();
}
