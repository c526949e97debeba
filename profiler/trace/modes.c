/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the recorder does at present: nothing, a stream, or a flight recorder
 * and its dumps. Whether events are recorded (prof_trace_on), and from when on
 * they are to be sent (due), follows from it.
 *
 *     OFF         records nothing
 *     STREAM      records; each drain sends it
 *     ARMED       records, keeps the last events
 *     TRIGGERED   does not record; a dump is to be made
 *     DUMPING     records; a dump is made of what there was when it began
 *     FINISHING   does not record; a dump is made of all there is
 *
 *                trigger                dump
 *     ARMED ---------------> TRIGGERED ------> FINISHING --+
 *       |  dump              trigger              ^        |
 *       +--------> DUMPING -----------------------+        | dumped, or its
 *       ^             | dumped                             | stream has ended
 *       +-------------+------------------------------------+
 *
 * A new mode ends each of them, whatever is pending. The end of a stream does
 * not: the next stream goes on with the same recorder.
 *
 * A dump is what the ring has since the last dump, in packets of their own. It
 * is older than what the stream has sent already, and time never goes back in a
 * stream; so to a reader these packets come from another CPU. What is
 * overwritten before the dump has come to it is marked as lost. Where the
 * transport refuses, the dump goes on at the next drain.
 */

#include "base/busy.h"
#include "base/cpu.h"
#include "stream/put.h"
#include "stream/stream.h"
#include "trace/names.h"
#include "trace/objects.h"
#include "trace/reader.h"
#include "trace/send.h"
#include "trace/stacks.h"

#include <prof/error.h>
#include <prof/trace.h>

#define ALIVE_MAX 512u   /* slots that a drain looks at for a new reader */
#define DUMP_ATTEMPTS 8u /* to send a packet, each time */

enum phase { OFF, STREAM, ARMED, TRIGGERED, DUMPING, FINISHING };

uint32_t prof_trace_on;

static enum phase phase;

/* ---- the phase
 *
 * A trigger may come from an interrupt, so that each change is made with
 * interrupts off.
 */

static enum phase current_phase(void)
{
    return __atomic_load_n(&phase, __ATOMIC_RELAXED);
}

static void set_due(void)
{
    prof_trace_cpu_here()->due =
        phase == STREAM && prof_stream_on() ? 0 : UINT64_MAX;
}

static void enter(enum phase next)
{
    bool on = prof_interrupts_save();

    phase = next;
    prof_trace_on = next == STREAM || next == ARMED || next == DUMPING;
    set_due();
    prof_interrupts_restore(on);
}

/* From (from) to (to), or from (or) to (then). */
static void change_phase(enum phase from, enum phase to, enum phase or,
                         enum phase then)
{
    bool on = prof_interrupts_save();

    if (phase == from)
        enter(to);
    else if (phase == or)
        enter(then);
    prof_interrupts_restore(on);
}

void prof_trace_trigger(void)
{
    change_phase(ARMED, TRIGGERED, DUMPING, FINISHING);
}

static bool is_dumping(void)
{
    return current_phase() == DUMPING || current_phase() == FINISHING;
}

enum prof_trace_mode prof_trace_mode(void)
{
    switch (current_phase()) {
    case OFF:
        return PROF_TRACE_OFF;
    case STREAM:
        return PROF_TRACE_STREAM;
    default:
        return PROF_TRACE_FLIGHT;
    }
}

/* ---- dumps */

static uint32_t head_of(const struct prof_trace_cpu *cpu)
{
    return __atomic_load_n(&cpu->head, __ATOMIC_ACQUIRE);
}

static bool send_packet(struct prof_packet_writer *writer)
{
    if (writer->packet.used == 0)
        return true;
    for (unsigned i = 0; i < DUMP_ATTEMPTS; i++) {
        prof_packet_writer_send(writer);
        if (!writer->stuck) {
            writer->interning.packet++;
            return true;
        }
    }
    return false;
}

bool prof_trace_history_room(struct prof_packet_writer *writer, uint64_t tsc,
                             uint32_t bytes)
{
    const uint32_t clock_bytes =
        prof_packet_event_bytes(PROF_EVENT_CLOCK, sizeof(uint64_t));
    const uint64_t clock = prof_packet_writer_clock(writer, tsc);
    struct prof_packet_maker *packet = &writer->packet;

    if ((packet->bytes != 0 ||
         !prof_packet_fits(packet, bytes + clock_bytes)) &&
        !send_packet(writer))
        return false;
    if (packet->used != 0 &&
        (clock - packet->end) >> (PROF_EVENT_TIME_BITS - 1) != 0)
        prof_packet_put(packet, PROF_EVENT_CLOCK, clock, &clock, sizeof clock);
    return true;
}

static bool is_for_stream(const struct prof_trace_cpu *cpu)
{
    const uint8_t *uuid = prof_stream_writer()->label.uuid;

    for (uint32_t i = 0; i < sizeof cpu->dump.writer->label.uuid; i++)
        if (cpu->dump.writer->label.uuid[i] != uuid[i])
            return false;
    return prof_stream_on();
}

/* A stream has begun since the last dump: packets count anew. */
static void join_stream(struct prof_trace_cpu *cpu)
{
    const struct prof_packet_writer *stream = prof_stream_writer();
    struct prof_packet_writer *writer = cpu->dump.writer;

    if (!is_for_stream(cpu))
        writer->label = (struct prof_packet_label){.cpu = PROF_CPU_HISTORY};
    __builtin_memcpy(writer->label.uuid, stream->label.uuid,
                     sizeof writer->label.uuid);
    writer->transport = stream->transport;
    writer->clock = stream->clock;
    writer->packet.text_begin = stream->packet.text_begin;
    writer->last = 0;
}

static void end_dump(struct prof_trace_cpu *cpu)
{
    prof_packet_clear(&cpu->dump.writer->packet);
    change_phase(DUMPING, ARMED, FINISHING, ARMED);
}

/* Each dump defines the names and stacks that it mentions. */
static void begin_dump(struct prof_trace_cpu *cpu)
{
    struct prof_trace_reader *reader = &cpu->history;
    struct prof_trace_record first;

    prof_objects_follow(cpu, false);
    change_phase(ARMED, DUMPING, TRIGGERED, FINISHING);
    if (!prof_stream_on()) { /* nobody would see it */
        end_dump(cpu);
        return;
    }
    join_stream(cpu);
    for (uint32_t i = 0; i < prof_names.room; i++)
        reader->notes[i] = 0;
    prof_trace_stacks_forget(1);
    reader->packet = UINT32_MAX;
    reader->current = PROF_TRACE_UNKNOWN;
    cpu->dump.object = 0;
    cpu->dump.begun = false;
    cpu->dump.until = head_of(cpu);
    if (!prof_trace_reader_next(reader, cpu, cpu->dump.until, &first,
                                &cpu->dump.begin))
        cpu->dump.begin = reader->tsc;
    reader->lost = 0; /* HISTORY says that there was more */
    reader->before = prof_trace_reader_passed(reader);
}

/* The position at which the dump ends: with all there is, if no more comes. */
static uint32_t end_of_dump(const struct prof_trace_cpu *cpu)
{
    return current_phase() == FINISHING ? head_of(cpu) : cpu->dump.until;
}

/* Puts what a dump begins with. False: no room for all of it yet. */
static bool put_beginning(struct prof_trace_cpu *cpu)
{
    struct prof_trace_record now = {.what = PROF_TRACE_DID_SWITCH};

    if (!cpu->dump.begun &&
        !prof_trace_encode_plain(&cpu->history, PROF_EVENT_HISTORY,
                                 cpu->dump.begin, NULL, 0))
        return false;
    cpu->dump.begun = true;
    for (; cpu->dump.object <= prof_objects.mask; cpu->dump.object++)
        if (!prof_trace_put_alive(&cpu->history, cpu->dump.begin,
                                  cpu->dump.object, true))
            return false;
    if (cpu->dump.object == prof_objects.mask + 1) {
        now.a = prof_trace_current_at(cpu, cpu->history.tail);
        if (!prof_trace_encode(&cpu->history, cpu->dump.begin, &now))
            return false;
        cpu->dump.object++;
    }
    return true;
}

/* False: no room for all of them yet. */
static bool put_events(struct prof_trace_cpu *cpu)
{
    struct prof_trace_reader *reader = &cpu->history;
    struct prof_trace_record record;
    uint64_t tsc;

    while (prof_trace_reader_next(reader, cpu, end_of_dump(cpu), &record, &tsc))
        if (!prof_trace_reader_put(reader, cpu, &record, tsc))
            return false;
    return prof_trace_reader_put_lost(reader, cpu) &&
           prof_trace_encode_count(reader, reader->tsc);
}

/* Begins a dump unless one is being made, and goes on with it. */
static void make_dump(struct prof_trace_cpu *cpu)
{
    if (!is_dumping())
        begin_dump(cpu);
    if (!is_dumping())
        return;
    if (!is_for_stream(cpu)) { /* it ends with its stream */
        end_dump(cpu);
        return;
    }
    if (!put_beginning(cpu))
        return;
    do { /* a trigger may come while the last of it is sent */
        if (!put_events(cpu) || !send_packet(cpu->dump.writer))
            return;
    } while ((int32_t)(end_of_dump(cpu) - cpu->history.tail) > 0);
    cpu->dump.made++;
    end_dump(cpu);
}

int prof_trace_dump(void)
{
    if (prof_trace_mode() != PROF_TRACE_FLIGHT)
        return PROF_EFLIGHT;
    make_dump(prof_trace_cpu_here());
    return PROF_OK;
}

/* ---- the stream
 *
 * While the transport refuses, records stay in the ring, which overwrites them
 * at last; then they are lost.
 */

/* Sends what comes until (limit). False: the transport refuses. */
static bool send_until(struct prof_trace_cpu *cpu, uint64_t limit)
{
    const uint32_t head = head_of(cpu);
    struct prof_trace_record record;
    uint64_t tsc;

    while (prof_trace_reader_next(&cpu->stream, cpu, head, &record, &tsc)) {
        if (tsc > limit) {
            cpu->due = tsc;
            return true;
        }
        if (!prof_trace_reader_put(&cpu->stream, cpu, &record, tsc))
            return false;
    }
    cpu->due = 0; /* what comes next is not known */
    return true;
}

void prof_trace_send_until(uint64_t tsc)
{
    struct prof_trace_cpu *cpu = prof_trace_cpu_here();

    if (prof_stream_on() && !send_until(cpu, tsc))
        cpu->due = UINT64_MAX; /* until the next drain */
}

static void send_objects(struct prof_trace_cpu *cpu)
{
    struct prof_trace_reader *reader = &cpu->stream;

    for (uint32_t i = 0; i < ALIVE_MAX; i++) {
        if (cpu->objects_sent > prof_objects.mask ||
            !prof_trace_put_alive(reader, reader->tsc, cpu->objects_sent,
                                  false))
            return;
        cpu->objects_sent++;
    }
}

/* Sends all there is; not what follows it. */
static void send_rest(struct prof_trace_cpu *cpu)
{
    if (!prof_stream_on() || !send_until(cpu, UINT64_MAX))
        return;
    (void)prof_trace_reader_put_lost(&cpu->stream, cpu);
    send_objects(cpu);
}

bool prof_trace_is_filling(void)
{
    const struct prof_trace_cpu *cpu = prof_trace_cpu_here();

    return current_phase() == STREAM && prof_stream_on() &&
           cpu->head - cpu->stream.tail > cpu->mask / 4;
}

void prof_trace_flush(void)
{
    struct prof_trace_cpu *cpu = prof_trace_cpu_here();

    if (current_phase() == OFF)
        return;
    prof_objects_follow(cpu, false);
    if (current_phase() == STREAM) {
        send_rest(cpu);
        set_due();
    } else if (current_phase() == ARMED) {
        prof_trace_reader_catch_up(&cpu->history, cpu);
    } else {
        make_dump(cpu);
    }
}

void prof_trace_hello(void)
{
    prof_trace_cpu_here()->objects_sent = 0;
    set_due();
}

/* A panic is a trigger: so a dump that is being made has its events, too. */
void prof_trace_last(bool panic)
{
    struct prof_trace_cpu *cpu = prof_trace_cpu_here();
    const enum prof_trace_mode mode = prof_trace_mode();

    if (mode == PROF_TRACE_FLIGHT && !panic) {
        end_dump(cpu);
    } else if (mode == PROF_TRACE_FLIGHT) {
        prof_trace_trigger();
        prof_objects_follow(cpu, true);
        if (prof_stream_on())
            make_dump(cpu);
        enter(OFF);
    } else if (mode == PROF_TRACE_STREAM) {
        enter(OFF);
        prof_objects_follow(cpu, panic);
        send_rest(cpu);
        if (prof_stream_on() && cpu->stream.bytes != 0)
            (void)prof_trace_encode_count(&cpu->stream, cpu->stream.tsc);
        enter(panic ? OFF : STREAM);
        cpu->due = UINT64_MAX; /* until the next stream */
    }
}

/* ---- memory and modes */

#define PARTS 8u
#define RECORD_PARTS 4u
#define OBJECT_PARTS 2u

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
    struct prof_trace_cpu *cpu = prof_trace_cpu_here();
    uint32_t records, objects;
    struct prof_trace_record *record;
    struct prof_object *object;
    struct prof_packet_writer *writer = memory;
    unsigned char *end = (unsigned char *)memory + bytes, *rest;

    if (memory == NULL || (uintptr_t)memory % 8 != 0 ||
        bytes < PROF_TRACE_MEMORY_MIN)
        return PROF_EMEMORY;
    if (cpu->records != NULL)
        return PROF_ESTATE;
    bytes -= sizeof *writer; /* of dumps; the rest is shared */
    records = count_in(bytes, RECORD_PARTS, sizeof *record);
    objects = count_in(bytes, OBJECT_PARTS, sizeof *object);
    record = (void *)(writer + 1);
    object = (void *)(record + records);
    rest = (void *)(object + objects);
    prof_trace_ring_open(cpu, record, records);
    cpu->follower = (struct prof_trace_follower){0};
    prof_objects_open(object, objects);
    prof_names_open(rest, (size_t)(end - rest));
    cpu->objects_sent = objects;
    cpu->dump.writer = writer;
    cpu->dump.made = 0;
    *writer = (struct prof_packet_writer){.label.cpu = PROF_CPU_HISTORY};
    prof_trace_reader_open(&cpu->stream, cpu, prof_stream_writer(),
                           prof_names.notes[0]);
    prof_trace_reader_open(&cpu->history, cpu, writer, prof_names.notes[1]);
    return PROF_OK;
}

static void change_mode(struct prof_trace_cpu *cpu, enum prof_trace_mode before,
                        enum prof_trace_mode mode)
{
    struct prof_trace_reader *reader =
        mode == PROF_TRACE_STREAM ? &cpu->stream : &cpu->history;

    prof_trace_flush(); /* a dump that is due, too */
    enter(OFF);
    if (before == PROF_TRACE_STREAM) {
        send_rest(cpu); /* what came meanwhile */
        prof_trace_reader_drop(&cpu->stream, cpu);
        set_due();
    } else if (before == PROF_TRACE_FLIGHT) {
        end_dump(cpu);
    }
    if (mode == PROF_TRACE_OFF)
        return;
    cpu->current = cpu->stream.current = PROF_TRACE_UNKNOWN;
    reader->tail = cpu->head; /* what is in the ring is forgotten */
    reader->unsure = false;
    enter(mode == PROF_TRACE_STREAM ? STREAM : ARMED);
}

int prof_trace_set_mode(enum prof_trace_mode mode)
{
    struct prof_trace_cpu *cpu = prof_trace_cpu_here();
    const enum prof_trace_mode before = prof_trace_mode();

    if (mode == before)
        return PROF_OK;
    if (cpu->records == NULL)
        return PROF_EMEMORY;
    prof_enter();
    change_mode(cpu, before, mode);
    prof_leave();
    return PROF_OK;
}

void prof_trace_stats(struct prof_trace_stats *stats)
{
    struct prof_trace_cpu *cpu = prof_trace_cpu_here();
    const struct prof_trace_reader *stream = &cpu->stream;
    const struct prof_trace_reader *history = &cpu->history;

    if (cpu->records != NULL)
        prof_objects_follow(cpu, false);
    *stats = (struct prof_trace_stats){
        .events = stream->read + history->read,
        .lost = stream->missed,
        .sent = stream->read - stream->missed + history->read - history->missed,
        .bytes = stream->bytes + history->bytes,
        .objects = prof_objects.next != 0 ? prof_objects.next - 1 : 0,
        .untracked = prof_objects.untracked,
        .names = prof_names_count(),
        .names_lost = prof_names.lost,
        .names_cut = prof_names.cut,
        .stacks = prof_trace_stacks.count,
        .stacks_lost = prof_trace_stacks.lost,
        .dumps = cpu->dump.made,
    };
}
