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
 *
 * Of several CPUs each has its ring, its part of the table of objects and its
 * packets, in the stream and in dumps. All that is here runs on the first one,
 * but for triggers, panics, and prof_trace_poll(). What another CPU is just
 * writing is waited for (reader.c); so after a trigger what is recorded
 * meanwhile is in the dump as well, or counted as lost.
 */

#include "base/busy.h"
#include "base/cpu.h"
#include "sample/cpus.h"
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
#define PATIENCE 64u     /* drains that another CPU is waited for */

enum phase { OFF, STREAM, ARMED, TRIGGERED, DUMPING, FINISHING };

uint32_t prof_trace_on;

static enum phase phase;

static struct {
    struct prof_packet_writer *writer; /* in the recorder's memory */
    uint32_t made;                     /* dumps so far */
    uint32_t at;                       /* CPU whose part is being made */
    uint32_t waits; /* drains that its dump has waited for that CPU */
} dumps;

#if PROF_CPUS_MAX > 1
bool prof_trace_hurries;
static void (*kick)(uint32_t number); /* config.kick */
static uint32_t patience; /* that is left, for the table of objects */
#endif

/* For each CPU that has a ring once there are any, the first one first. */
#define FOR_EACH(cpu)                                                          \
    for (struct prof_trace_cpu *cpu = &prof_trace_cpus[0];                     \
         cpu < &prof_trace_cpus[0] + prof_cpu_count(); cpu++)

/* Whether the stream has packets of (cpu). */
static bool is_streamed(const struct prof_trace_cpu *cpu)
{
#if PROF_CPUS_MAX > 1
    return cpu == &prof_trace_cpus[0] ||
           prof_encoder_of(prof_trace_sampled(cpu))->joined;
#else
    (void)cpu;
    return true;
#endif
}

/* ---- the phase
 *
 * A trigger may come from an interrupt, so that each change is made with
 * interrupts off; or from another CPU, so that it is made in one instruction.
 */

static enum phase current_phase(void)
{
    return __atomic_load_n(&phase, __ATOMIC_RELAXED);
}

static void set_due(void)
{
    uint64_t due = phase == STREAM && prof_stream_on() ? 0 : UINT64_MAX;

    FOR_EACH (cpu)
        cpu->due = due;
}

static bool is_on(enum phase now)
{
    return now == STREAM || now == ARMED || now == DUMPING;
}

#if PROF_CPUS_MAX > 1

/* Who publishes last has seen the last phase: the exchange is before the second
 * look, also for other CPUs. */
static void publish(void)
{
    enum phase seen;

    do {
        seen = current_phase();
        (void)__atomic_exchange_n(&prof_trace_on, is_on(seen),
                                  __ATOMIC_SEQ_CST);
    } while (seen != current_phase());
}

static void enter_phase(enum phase next)
{
    __atomic_store_n(&phase, next, __ATOMIC_SEQ_CST);
    publish();
    set_due();
}

static void change_phase(enum phase from, enum phase to, enum phase or,
                         enum phase then)
{
    enum phase now = current_phase();

    while (now == from || now == or)
        if (__atomic_compare_exchange_n(&phase, &now, now == from ? to : then,
                                        false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
            publish(); /* all of these send nothing to the stream */
            return;
        }
}

#else

static void enter_phase(enum phase next)
{
    bool on = prof_interrupts_save();

    phase = next;
    prof_trace_on = is_on(next);
    set_due();
    prof_interrupts_restore(on);
}

/* From (from) to (to), or from (or) to (then). */
static void change_phase(enum phase from, enum phase to, enum phase or,
                         enum phase then)
{
    bool on = prof_interrupts_save();

    if (phase == from)
        enter_phase(to);
    else if (phase == or)
        enter_phase(then);
    prof_interrupts_restore(on);
}

#endif

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

static bool is_for_stream(void)
{
    const uint8_t *uuid = prof_stream_writer()->label.uuid;

    for (uint32_t i = 0; i < sizeof dumps.writer->label.uuid; i++)
        if (dumps.writer->label.uuid[i] != uuid[i])
            return false;
    return prof_stream_on();
}

/* Packets count anew. */
static void reset_labels(void)
{
    dumps.writer->label = (struct prof_packet_label){.cpu = PROF_CPU_HISTORY};
#if PROF_CPUS_MAX > 1
    FOR_EACH (cpu)
        cpu->dump.sequence = 0;
#endif
}

static void join_stream(void)
{
    const struct prof_packet_writer *stream = prof_stream_writer();
    struct prof_packet_writer *writer = dumps.writer;

    if (!is_for_stream()) /* one has begun since the last dump */
        reset_labels();
    __builtin_memcpy(writer->label.uuid, stream->label.uuid,
                     sizeof writer->label.uuid);
    writer->transport = stream->transport;
    writer->clock = stream->clock;
    writer->packet.text_begin = stream->packet.text_begin;
    writer->last = 0;
}

#if PROF_CPUS_MAX > 1
/* The packets from now on are (cpu)'s. All before were sent. */
static void write_as(struct prof_trace_cpu *cpu)
{
    struct prof_packet_writer *writer = dumps.writer;
    uint32_t number = prof_trace_cpu_number(cpu);

    writer->label.cpu = (uint16_t)(PROF_CPU_HISTORY + number);
    writer->label.sequence = cpu->dump.sequence;
    writer->clock = prof_stream_writer()->clock;
    writer->clock.zero_tsc =
        prof_cpu_tsc_at(prof_trace_sampled(cpu), writer->clock.zero_tsc);
    writer->last = 0;
    cpu->history.packet = UINT32_MAX;
}
#endif

static void end_dump(void)
{
    dumps.waits = 0;
    prof_packet_clear(&dumps.writer->packet);
    change_phase(DUMPING, ARMED, FINISHING, ARMED);
}

static void begin_part(struct prof_trace_cpu *cpu)
{
    struct prof_trace_reader *reader = &cpu->history;
    struct prof_trace_record first;

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

/* Each dump defines the names and stacks that it mentions. */
static void begin_dump(void)
{
    if (prof_cpu_is_first())
        prof_objects_follow(&prof_trace_cpus[0], false);
    change_phase(ARMED, DUMPING, TRIGGERED, FINISHING);
    if (!prof_stream_on()) { /* nobody would see it */
        end_dump();
        return;
    }
    join_stream();
    for (uint32_t i = 0; i < prof_names.room; i++)
        prof_names.notes[1][i] = 0;
    prof_trace_stacks_forget(1);
    dumps.at = 0;
    FOR_EACH (cpu)
        begin_part(cpu);
}

/* The position at which the dump ends: with all there is, if no more comes. */
static uint32_t end_of_dump(const struct prof_trace_cpu *cpu)
{
    return current_phase() == FINISHING ? head_of(cpu) : cpu->dump.until;
}

static bool is_more_to_dump(const struct prof_trace_cpu *cpu)
{
    return (int32_t)(end_of_dump(cpu) - cpu->history.tail) > 0;
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
    for (; cpu->dump.object <= cpu->objects.mask; cpu->dump.object++)
        if (!prof_trace_put_alive(&cpu->history, cpu->dump.begin,
                                  cpu->dump.object, true))
            return false;
    if (cpu->dump.object == cpu->objects.mask + 1) {
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

#if PROF_CPUS_MAX > 1
    prof_trace_hurries = prof_trace_hurries || dumps.waits > PATIENCE;
#endif
    while (prof_trace_reader_next(reader, cpu, end_of_dump(cpu), &record, &tsc))
        if (!prof_trace_reader_put(reader, cpu, &record, tsc))
            return false;
#if PROF_CPUS_MAX > 1
    if (is_more_to_dump(cpu)) { /* another CPU is just writing it */
        dumps.waits++;
        return false;
    }
    prof_trace_hurries = prof_trace_hurries && dumps.waits <= PATIENCE;
    dumps.waits = 0;
#endif
    return prof_trace_reader_put_lost(reader, cpu) &&
           prof_trace_encode_count(reader, reader->tsc);
}

/* False: not all of it yet. */
static bool make_part(struct prof_trace_cpu *cpu)
{
#if PROF_CPUS_MAX > 1
    if (head_of(cpu) == 0 && cpu != &prof_trace_cpus[0])
        return true; /* it has recorded nothing, ever */
    if (dumps.writer->packet.used == 0)
        write_as(cpu);
#endif
    if (!put_beginning(cpu) || !put_events(cpu) || !send_packet(dumps.writer))
        return false;
#if PROF_CPUS_MAX > 1
    cpu->dump.sequence = dumps.writer->label.sequence;
#endif
    return true;
}

/* A trigger may come while the last of it is sent. */
static bool is_any_more_to_dump(void)
{
    FOR_EACH (cpu)
        if (is_more_to_dump(cpu))
            return true;
    return false;
}

/* Begins a dump unless one is being made, and goes on with it. */
static void make_dump(void)
{
    const uint32_t count = prof_cpu_count();

    if (!is_dumping())
        begin_dump();
    if (!is_dumping())
        return;
    if (!is_for_stream()) { /* it ends with its stream */
        end_dump();
        return;
    }
    do {
        for (; dumps.at < count; dumps.at++)
            if (!make_part(&prof_trace_cpus[dumps.at]))
                return;
        dumps.at = 0;
    } while (is_any_more_to_dump());
    dumps.made++;
    end_dump();
}

int prof_trace_dump(void)
{
    if (prof_trace_mode() != PROF_TRACE_FLIGHT)
        return PROF_EFLIGHT;
    make_dump();
    return PROF_OK;
}

/* ---- the stream
 *
 * While the transport refuses, records stay in the ring, which overwrites them
 * at last; then they are lost.
 */

/* Sends what comes until (limit), before position (head). False: the transport
 * refuses. */
static bool send_until(struct prof_trace_cpu *cpu, uint32_t head,
                       uint64_t limit)
{
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

static void send_before(struct prof_trace_cpu *cpu, uint64_t tsc)
{
    if (prof_stream_on() && !send_until(cpu, head_of(cpu), tsc))
        cpu->due = UINT64_MAX; /* until the next drain */
}

#if PROF_CPUS_MAX > 1
void prof_trace_send_until_by(const struct prof_cpu *cpu, uint64_t tsc)
{
    send_before(prof_trace_cpu_of(cpu), tsc);
}
#else
void prof_trace_send_until(uint64_t tsc)
{
    send_before(&prof_trace_cpus[0], tsc);
}
#endif

#if PROF_CPUS_MAX > 1
/* Whether the table has all that was recorded before the reader joined: each
 * CPU has followed its ring until there, and has entered what it recorded of
 * the others' objects. One that does not come to it is not waited for any
 * longer than PATIENCE. */
static bool is_table_known(void)
{
    if (patience == 0)
        return true;
    FOR_EACH (cpu)
        if (cpu->records != NULL &&
            ((int32_t)(__atomic_load_n(&cpu->follower.tail, __ATOMIC_ACQUIRE) -
                       cpu->objects_after) < 0 ||
             __atomic_load_n(&cpu->strays.count, __ATOMIC_RELAXED) != 0))
            return false;
    patience = 0;
    return true;
}
#endif

static void send_objects(struct prof_trace_cpu *cpu)
{
    struct prof_trace_reader *reader = &cpu->stream;

#if PROF_CPUS_MAX > 1
    if (!is_table_known())
        return;
#endif
    for (uint32_t i = 0; i < ALIVE_MAX; i++) {
        if (cpu->objects_sent > cpu->objects.mask ||
            !prof_trace_put_alive(reader, reader->tsc, cpu->objects_sent,
                                  false))
            return;
        cpu->objects_sent++;
    }
}

/* Sends all there is before position (head), and what comes until (limit); not
 * what follows it. */
static void send_rest(struct prof_trace_cpu *cpu, uint32_t head, uint64_t limit)
{
    if (!prof_stream_on() || !is_streamed(cpu) || !send_until(cpu, head, limit))
        return;
    (void)prof_trace_reader_put_lost(&cpu->stream, cpu);
    send_objects(cpu);
}

static void send_all_rests(void)
{
    FOR_EACH (cpu)
        send_rest(cpu, head_of(cpu), UINT64_MAX);
}

bool prof_trace_is_filling(void)
{
    if (current_phase() != STREAM || !prof_stream_on())
        return false;
    FOR_EACH (cpu)
        if (head_of(cpu) - cpu->stream.tail > cpu->mask / 4)
            return true;
    return false;
}

#if PROF_CPUS_MAX > 1
uint32_t prof_trace_mark(const struct prof_cpu *sampled)
{
    return head_of(prof_trace_cpu_of(sampled));
}

void prof_trace_flush_other(const struct prof_cpu *sampled, uint32_t mark,
                            uint64_t limit)
{
    struct prof_trace_cpu *cpu = prof_trace_cpu_of(sampled);

    if (current_phase() == STREAM && cpu->records != NULL)
        send_rest(cpu, mark, limit);
}

void prof_trace_poll(void)
{
    struct prof_trace_cpu *cpu = prof_trace_cpu_here();

    if (cpu->records == NULL)
        return;
    if (cpu->strays.count != 0)
        prof_objects_again(cpu);
    prof_objects_follow(cpu, false);
}

void prof_trace_kick_by(void (*by)(uint32_t number))
{
    kick = by;
}
#endif

void prof_trace_flush(void)
{
    struct prof_trace_cpu *cpu = &prof_trace_cpus[0];

    if (current_phase() == OFF)
        return;
#if PROF_CPUS_MAX > 1
    prof_trace_poll();
    patience -= patience != 0;
#else
    prof_objects_follow(cpu, false);
#endif
    if (current_phase() == STREAM) {
        send_rest(cpu, head_of(cpu), UINT64_MAX);
        set_due();
    } else if (current_phase() == ARMED) {
        FOR_EACH (each)
            prof_trace_reader_catch_up(&each->history, each);
    } else {
        make_dump();
    }
}

void prof_trace_hello(void)
{
    FOR_EACH (cpu) {
        cpu->objects_sent = 0;
#if PROF_CPUS_MAX > 1
        cpu->objects_after = cpu->stream.tail;
        patience = PATIENCE;
        if (kick != NULL && cpu != &prof_trace_cpus[0] && cpu->records != NULL)
            kick(prof_trace_cpu_number(cpu));
#endif
    }
    set_due();
}

static void hurry(bool hurries)
{
#if PROF_CPUS_MAX > 1
    prof_trace_hurries = hurries;
    patience = 0;
#else
    (void)hurries;
#endif
}

/* In a panic, those of all CPUs, which do not run any more. */
static void follow_all(bool panic)
{
    FOR_EACH (cpu)
        if (cpu->records != NULL && (panic || cpu == &prof_trace_cpus[0]))
            prof_objects_follow(cpu, panic);
}

static void count_all(void)
{
    FOR_EACH (cpu)
        if (prof_stream_on() && cpu->stream.bytes != 0)
            (void)prof_trace_encode_count(&cpu->stream, cpu->stream.tsc);
}

/* A panic is a trigger: so a dump that is being made has its events, too. */
void prof_trace_last(bool panic)
{
    const enum prof_trace_mode mode = prof_trace_mode();

    hurry(true);
    if (mode == PROF_TRACE_FLIGHT && !panic) {
        end_dump();
    } else if (mode == PROF_TRACE_FLIGHT) {
        prof_trace_trigger();
        follow_all(true);
        if (prof_stream_on())
            make_dump();
        enter_phase(OFF);
    } else if (mode == PROF_TRACE_STREAM) {
        enter_phase(OFF);
        follow_all(panic);
        send_all_rests();
        count_all();
        enter_phase(panic ? OFF : STREAM);
        FOR_EACH (cpu)
            cpu->due = UINT64_MAX; /* until the next stream */
    }
    hurry(false);
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

/* The ring of (cpu) and its part of the table. Returns the memory after. */
static void *open_cpu(struct prof_trace_cpu *cpu, void *memory,
                      uint32_t records, uint32_t objects)
{
    struct prof_trace_record *record = memory;
    struct prof_object *object = (void *)(record + records);

    cpu->follower = (struct prof_trace_follower){0};
    prof_objects_open(cpu, object, objects);
    cpu->objects_sent = objects;
    prof_trace_reader_open(&cpu->history, cpu, dumps.writer,
                           prof_names.notes[1]);
    prof_trace_reader_open(&cpu->stream, cpu,
                           prof_stream_writer_of(prof_trace_sampled(cpu)),
                           prof_names.notes[0]);
    prof_trace_ring_open(cpu, record, records);
    return object + objects;
}

/* The parts of CPUs are whole cache lines. */
static void *align_parts(void *memory)
{
    return PROF_CPUS_MAX == 1
               ? memory
               : (char *)memory + -(uintptr_t)memory % PROF_CACHE_LINE;
}

int prof_trace_open(void *memory, size_t bytes)
{
    const uint32_t cpus = prof_cpu_count();
    uint32_t records, objects;
    struct prof_packet_writer *writer = memory;
    unsigned char *end = (unsigned char *)memory + bytes, *rest;

    if (memory == NULL || (uintptr_t)memory % 8 != 0 ||
        bytes < PROF_TRACE_MEMORY_MIN)
        return PROF_EMEMORY;
    if (prof_trace_cpus[0].records != NULL)
        return PROF_ESTATE;
    bytes -= sizeof *writer; /* of dumps; the rest is shared */
    if (PROF_CPUS_MAX > 1)
        bytes = (size_t)prof_divide(bytes - PROF_CACHE_LINE, cpus);
    records = count_in(bytes, RECORD_PARTS, sizeof(struct prof_trace_record));
    objects = count_in(bytes, OBJECT_PARTS, sizeof(struct prof_object));
    if (PROF_CPUS_MAX > 1 && objects < PROF_OBJECTS_PROBES)
        return PROF_EMEMORY;
    rest = align_parts(writer + 1);
    dumps.writer = writer;
    dumps.made = 0;
    *writer = (struct prof_packet_writer){.label.cpu = PROF_CPU_HISTORY};
    prof_objects_divide(cpus);
    prof_names_open(rest + cpus * (records * sizeof(struct prof_trace_record) +
                                   objects * sizeof(struct prof_object)),
                    (size_t)(end - rest) -
                        cpus * (records * sizeof(struct prof_trace_record) +
                                objects * sizeof(struct prof_object)));
    FOR_EACH (cpu)
        rest = open_cpu(cpu, rest, records, objects);
    return PROF_OK;
}

/* Nothing is recorded. What is in the ring is forgotten. */
static void begin_recording(struct prof_trace_cpu *cpu,
                            enum prof_trace_mode mode)
{
    struct prof_trace_reader *reader =
        mode == PROF_TRACE_STREAM ? &cpu->stream : &cpu->history;

    cpu->current = cpu->stream.current = PROF_TRACE_UNKNOWN;
    reader->tail = cpu->head;
    reader->unsure = false;
}

static void change_mode(enum prof_trace_mode before, enum prof_trace_mode mode)
{
    prof_trace_flush(); /* a dump that is due, too */
    enter_phase(OFF);
    if (before == PROF_TRACE_STREAM) {
        send_all_rests(); /* what came meanwhile */
        FOR_EACH (cpu)
            prof_trace_reader_drop(&cpu->stream, cpu);
        set_due();
    } else if (before == PROF_TRACE_FLIGHT) {
        end_dump();
    }
    if (mode == PROF_TRACE_OFF)
        return;
    FOR_EACH (cpu)
        begin_recording(cpu, mode);
    enter_phase(mode == PROF_TRACE_STREAM ? STREAM : ARMED);
}

int prof_trace_set_mode(enum prof_trace_mode mode)
{
    const enum prof_trace_mode before = prof_trace_mode();

    if (mode == before)
        return PROF_OK;
    if (prof_trace_cpus[0].records == NULL)
        return PROF_EMEMORY;
    prof_enter();
    change_mode(before, mode);
    prof_leave();
    return PROF_OK;
}

static void add_cpu(struct prof_trace_stats *stats,
                    const struct prof_trace_cpu *cpu)
{
    const struct prof_trace_reader *stream = &cpu->stream;
    const struct prof_trace_reader *history = &cpu->history;
    const struct prof_trace_stacks *stacks = prof_trace_stacks_of(cpu);

    stats->events += stream->read + history->read;
    stats->lost += stream->missed;
    stats->sent +=
        stream->read - stream->missed + history->read - history->missed;
    stats->bytes += stream->bytes + history->bytes;
    stats->objects += prof_objects_created(cpu);
    stats->untracked += cpu->objects.untracked;
    stats->stacks += stacks->count;
    stats->stacks_lost += stacks->lost;
}

void prof_trace_stats(struct prof_trace_stats *stats)
{
    if (prof_trace_cpus[0].records != NULL)
        prof_objects_follow(&prof_trace_cpus[0], false);
    *stats = (struct prof_trace_stats){
        .names = prof_names_count(),
        .names_lost = prof_names.lost,
        .names_cut = prof_names.cut,
        .dumps = dumps.made,
    };
    FOR_EACH (cpu)
        add_cpu(stats, cpu);
}

#if PROF_CPUS_MAX > 1
bool prof_trace_cpu_stats(uint32_t number, struct prof_trace_stats *stats)
{
    if (number >= prof_cpu_count() || prof_trace_cpus[0].records == NULL)
        return false;
    *stats = (struct prof_trace_stats){0};
    add_cpu(stats, &prof_trace_cpus[number]);
    return true;
}
#endif
