/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirage-profile's traces: a stream of the Common Trace Format, cut into
 * packets of a fixed size that are overwritten in turn. A packet is
 *
 *     u32 magic, u8 uuid[16]                     the same in all
 *     u32 size, u16 number, u32 content          in bits; of the whole packet
 *     events: u64 time in ns, u8 kind, fields    no padding, little-endian
 *
 * The numbers count packets, modulo 2^16. A packet that was begun and not
 * finished has the content that was right when it was last written.
 */

#define _GNU_SOURCE /* memmem() */

#include "base/bytes.h"
#include "base/memory.h"
#include "import/recording.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 30u
#define EVENT_HEAD_BYTES 9u
#define NS_PER_CLOCK (1000000000u / PROF_CLOCK_HZ)

static const uint8_t mark[] = {0xc1, 0x1f, 0xfc, 0xc1, 0x05, 0x88, 0x3b,
                               0x8d, 0x52, 0x1a, 0x48, 0x7b, 0xb3, 0x97,
                               0x45, 0x6a, 0xb1, 0x50, 0x68, 0x0c};

enum {
    CREATES,
    READ,
    FULFILLS,
    FAILS,
    BECOMES,
    LABEL,
    INCREASE,
    SWITCH,
    GC,
    SIGNAL,
    TRY_READ,
    COUNTER,
    READ_LATER,
    SIGNAL_ONLY,
    KINDS,
};

/* Their fields: so many numbers of 64 bits, a byte, a text. */
static const struct {
    uint8_t numbers;
    bool has_byte;
    bool has_text;
} layouts[KINDS] = {
    [CREATES] = {2, true, false},     [READ] = {2, false, false},
    [FULFILLS] = {2, false, false},   [FAILS] = {2, false, true},
    [BECOMES] = {2, false, false},    [LABEL] = {1, false, true},
    [INCREASE] = {2, false, true},    [SWITCH] = {1, false, false},
    [GC] = {1, false, false},         [SIGNAL] = {2, false, false},
    [TRY_READ] = {2, false, false},   [COUNTER] = {2, false, true},
    [READ_LATER] = {2, false, false}, [SIGNAL_ONLY] = {2, false, false},
};

/* What its threads are, by their types. */
static const uint8_t thread_kinds[] = {
    PROF_TRACE_PROMISE, /* wait */
    PROF_TRACE_PROMISE, /* task: may be cancelled */
    PROF_TRACE_BIND,           PROF_TRACE_CATCH,      PROF_TRACE_CHOOSE,
    PROF_TRACE_PICK,           PROF_TRACE_JOIN,       PROF_TRACE_MAP,
    PROF_TRACE_CONDITION,      PROF_TRACE_ON_SUCCESS, PROF_TRACE_ON_FAILURE,
    PROF_TRACE_ON_TERMINATION, PROF_TRACE_ON_ANY,     PROF_TRACE_IGNORE_RESULT,
    PROF_TRACE_ASYNC,          PROF_TRACE_PROMISE,    PROF_TRACE_SEMAPHORE,
    PROF_TRACE_SCOPE,
};

struct event {
    uint64_t time; /* clocks */
    uint8_t kind;
    uint64_t first; /* usually the thread that runs */
    uint64_t second;
    uint8_t byte;
    const uint8_t *text;
    size_t text_bytes;
};

/* Counters that are given by their increases. */
struct sums {
    struct index names;
    uint64_t *values;
};

struct packet_place {
    const uint8_t *events;
    size_t bytes;
    uint16_t number;
};

bool mirage_is(const uint8_t *bytes, size_t count)
{
    return count >= HEAD_BYTES && memmem(bytes, count, mark, sizeof mark);
}

/* ---- events */

/* The bytes of the event at (at), which it reads; 0: cut, or no sense. */
static size_t read_event(struct event *event, const uint8_t *at, size_t left)
{
    size_t used = EVENT_HEAD_BYTES;

    if (left < used || at[8] >= KINDS)
        return 0;
    *event = (struct event){.time = le64(at) / NS_PER_CLOCK, .kind = at[8]};
    if (left < used + 8u * layouts[event->kind].numbers +
                   layouts[event->kind].has_byte)
        return 0;
    event->first = le64(at + used);
    used += 8;
    if (layouts[event->kind].numbers == 2) {
        event->second = le64(at + used);
        used += 8;
    }
    if (layouts[event->kind].has_byte)
        event->byte = at[used++];
    if (layouts[event->kind].has_text) {
        const uint8_t *end = memchr(at + used, '\0', left - used);

        if (end == NULL)
            return 0;
        event->text = at + used;
        event->text_bytes = (size_t)(end - event->text);
        used += event->text_bytes + 1;
    }
    return used;
}

static int64_t increased_sum(struct sums *sums, uint16_t name, uint64_t by)
{
    static const uint64_t none;
    uint32_t number =
        index_add_row(&sums->names, name, &sums->values, &none, sizeof none);

    return (int64_t)(sums->values[number] += by);
}

static void take_act(struct recording *recording, const struct event *event,
                     uint32_t first)
{
    uint32_t second = recording_object(recording, event->second);

    switch (event->kind) {
    case READ:
        /* so it was resolved, though nothing may have said that */
        recording_resolve(recording, second);
        recording_run(recording, first);
        recording_read(recording, first, second, false);
        break;
    case READ_LATER:
        recording_read(recording, first, second, false);
        break;
    case TRY_READ:
        recording_read(recording, first, second, true);
        break;
    case FULFILLS:
        recording_run(recording, first);
        recording_resolve(recording, second);
        break;
    case FAILS:
        recording_run(recording, first);
        recording_fail(
            recording, second,
            stream_name(&recording->stream, event->text, event->text_bytes));
        break;
    case BECOMES:
        recording_become(recording, first, second);
        break;
    default: /* SIGNAL, SIGNAL_ONLY: who signals runs still */
        recording_signal(recording, second, first);
        if (event->kind == SIGNAL)
            recording_run(recording, first);
        break;
    }
}

static void take_counter(struct recording *recording, struct sums *sums,
                         const struct event *event)
{
    uint16_t name =
        stream_name(&recording->stream, event->text, event->text_bytes);

    recording_counter(recording, name,
                      event->kind == INCREASE
                          ? increased_sum(sums, name, event->second)
                          : (int64_t)event->second);
}

static void take_event(struct recording *recording, struct sums *sums,
                       const struct event *event)
{
    static const char collector[] = "GC";
    struct stream *stream = &recording->stream;

    recording_at(recording, event->time, 0);
    switch (event->kind) {
    case GC:
        recording_pause(recording,
                        stream_name(stream, collector, sizeof collector),
                        event->first / NS_PER_CLOCK);
        break;
    case SWITCH:
        if (event->first == RECORDING_LOOP_KEY) /* -1 */
            recording_idle(recording, 0);
        else
            recording_run(recording, recording_object(recording, event->first));
        break;
    case LABEL:
        recording_label(recording, recording_object(recording, event->first),
                        stream_name(stream, event->text, event->text_bytes));
        break;
    case CREATES:
        recording_run(recording, recording_object(recording, event->first));
        recording_create(recording, event->second,
                         event->byte < sizeof thread_kinds
                             ? thread_kinds[event->byte]
                             : PROF_TRACE_OTHER);
        break;
    case INCREASE:
    case COUNTER:
        take_counter(recording, sums, event);
        break;
    default:
        take_act(recording, event, recording_object(recording, event->first));
        break;
    }
}

/* ---- packets */

/* Lists and counts packets, to be freed; *(unread): bytes between them. */
static size_t find_packets(const uint8_t *bytes, size_t count,
                           struct packet_place **packets, uint64_t *unread)
{
    size_t found = 0, at = 0;

    *packets = NULL;
    while (count - at >= HEAD_BYTES) {
        const uint8_t *head = memmem(bytes + at, count - at, mark, sizeof mark);
        size_t left, size, content;

        if (head == NULL)
            break;
        *unread += (uint64_t)(head - bytes) - at;
        at = (size_t)(head - bytes);
        left = count - at;
        if (left < HEAD_BYTES)
            break;
        size = le32(head + 20) / 8;
        content = le32(head + 26) / 8;
        if (size < HEAD_BYTES || content < HEAD_BYTES || content > size) {
            *unread += sizeof mark;
            at += sizeof mark;
            continue;
        }
        content = content < left ? content : left;
        vector_reserve_one(packets, found, sizeof **packets);
        (*packets)[found++] = (struct packet_place){
            head + HEAD_BYTES, content - HEAD_BYTES, le16(head + 24)};
        at += size < left ? size : left;
    }
    *unread += count - at;
    return found;
}

static int by_number(const void *left, const void *right)
{
    const struct packet_place *a = left, *b = right;

    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->events > b->events) - (a->events < b->events);
}

/* Where the oldest of the sorted packets is: after the largest gap. */
static size_t oldest_of(const struct packet_place *packets, size_t count)
{
    uint16_t most = 0;
    size_t first = 0;

    for (size_t i = 0; i < count; ++i) {
        size_t before = i > 0 ? i - 1 : count - 1;
        uint16_t gap =
            (uint16_t)(packets[i].number - packets[before].number - 1);

        if (gap > most) {
            most = gap;
            first = i;
        }
    }
    return first;
}

/* Reads a packet's events; returns the bytes that made no sense. */
static uint64_t read_packet(struct recording *recording, struct sums *sums,
                            const struct packet_place *packet)
{
    size_t at = 0, used;
    struct event event;

    while ((used = read_event(&event, packet->events + at,
                              packet->bytes - at)) > 0) {
        take_event(recording, sums, &event);
        at += used;
    }
    if (at < packet->bytes)
        recording_lose(recording);
    return packet->bytes - at;
}

uint64_t mirage_read(struct recording *recording, const uint8_t *bytes,
                     size_t count)
{
    struct packet_place *packets;
    struct sums sums = {0};
    uint64_t unread = 0;
    size_t found = find_packets(bytes, count, &packets, &unread), first;

    if (found > 1)
        qsort(packets, found, sizeof *packets, by_number);
    first = oldest_of(packets, found);
    for (size_t i = 0; i < found; ++i) {
        const struct packet_place *packet = &packets[(first + i) % found];
        const struct packet_place *before =
            &packets[(first + i + found - 1) % found];

        if (packet->bytes == 0)
            continue;
        if (i > 0 && (uint16_t)(packet->number - before->number) > 1 &&
            before->bytes > 0)
            recording_lose(recording);
        unread += read_packet(recording, &sums, packet);
    }
    free(packets);
    free(sums.values);
    index_free(&sums.names);
    return unread;
}
