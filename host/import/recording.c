/* SPDX-License-Identifier: Apache-2.0 */
/* Events of other recorders as ours, in wide forms, in packets in memory. */

#include "import/recording.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- packets */

#define PACKET_BYTES 32768u /* then the next one begins */
#define EVENT_MAX 300u      /* bytes of an event and of a CLOCK before it */
#define NAME_MAX_BYTES 250u
#define NAMES_MAX 65535u

static void end_packet(struct stream *stream)
{
    size_t bytes = stream->count - stream->packet;
    struct prof_packet head = {
        .magic = PROF_PACKET_MAGIC,
        .begin = stream->begin,
        .end = stream->time,
        .content_bits = (uint32_t)bytes * 8,
        .packet_bits = (uint32_t)bytes * 8,
        .cpu = stream->cpu,
        .version = PROF_FORMAT_VERSION,
    };

    if (bytes == 0)
        return;
    head.sequence = stream->sequences[stream->cpu]++;
    memcpy(stream->bytes + stream->packet, &head, sizeof head);
    head.crc = crc32c(0, stream->bytes + stream->packet, bytes);
    memcpy(stream->bytes + stream->packet, &head, sizeof head);
    stream->packet = stream->count;
}

/* Room for (bytes) more, which are in use from now on. */
static uint8_t *add_bytes(struct stream *stream, size_t bytes)
{
    if (stream->room - stream->count < bytes) {
        stream->room = 2 * stream->room + PACKET_BYTES;
        stream->bytes = xreallocarray(stream->bytes, stream->room, 1);
    }
    stream->count += bytes;
    return stream->bytes + stream->count - bytes;
}

void stream_at(struct stream *stream, uint64_t time, uint16_t cpu)
{
    if (time < stream->time)
        time = stream->time;
    if (cpu != stream->cpu)
        end_packet(stream);
    stream->cpu = cpu;
    if (stream->count - stream->packet > PACKET_BYTES - EVENT_MAX)
        end_packet(stream);
    if (stream->count > stream->packet &&
        time - stream->time > PROF_EVENT_TIME_MASK / 2) {
        struct prof_event_clock clock = {time};

        stream_put(stream, PROF_EVENT_CLOCK, &clock, sizeof clock);
    }
    stream->time = time;
}

static void put_head(struct stream *stream, uint32_t kind, size_t bytes)
{
    uint32_t code = kind >= PROF_KIND_EXTENDED ? PROF_KIND_ESCAPE : kind;
    uint32_t word = PROF_EVENT_OTHER | code << PROF_EVENT_TAG_BITS |
                    (uint32_t)(stream->time & PROF_EVENT_TIME_MASK)
                        << (PROF_EVENT_TAG_BITS + PROF_EVENT_KIND_BITS);
    struct prof_event_extension extension = {(uint8_t)kind, (uint8_t)bytes};

    memcpy(add_bytes(stream, sizeof word), &word, sizeof word);
    if (code == PROF_KIND_ESCAPE)
        memcpy(add_bytes(stream, sizeof extension), &extension,
               sizeof extension);
}

void stream_put(struct stream *stream, enum prof_event kind, const void *fields,
                size_t bytes)
{
    if (stream->count - stream->packet > PACKET_BYTES - EVENT_MAX)
        end_packet(stream);
    if (stream->count == stream->packet) {
        memset(add_bytes(stream, PROF_PACKET_BYTES), 0, PROF_PACKET_BYTES);
        stream->begin = stream->time;
    }
    put_head(stream, kind, bytes);
    memcpy(add_bytes(stream, bytes), fields, bytes);
}

uint16_t stream_name(struct stream *stream, const void *text, size_t bytes)
{
    char fields[sizeof(uint16_t) + NAME_MAX_BYTES + 1] = {0};
    uint32_t known = strings_count(&stream->names), number;
    uint16_t as_field;

    if (bytes > NAME_MAX_BYTES)
        bytes = NAME_MAX_BYTES;
    bytes = strnlen(text, bytes);
    if (bytes == 0)
        return 0;
    memcpy(fields + sizeof as_field, text, bytes);
    number = strings_put(&stream->names, fields + sizeof as_field);
    if (number > NAMES_MAX)
        return 0;
    as_field = (uint16_t)number;
    memcpy(fields, &as_field, sizeof as_field);
    if (strings_count(&stream->names) > known)
        stream_put(stream, PROF_EVENT_NAME, fields,
                   sizeof as_field + bytes + 1);
    return as_field;
}

void stream_end(struct stream *stream)
{
    end_packet(stream);
    strings_free(&stream->names);
}

/* ---- objects */

#define OBJECTS_MAX (1u << 24)

#define PUT(recording, NAME, name, ...)                                        \
    stream_put(&(recording)->stream, PROF_EVENT_##NAME,                        \
               &(struct prof_event_##name){__VA_ARGS__},                       \
               sizeof(struct prof_event_##name))

void recording_begin(struct recording *recording)
{
    recording_object(recording, RECORDING_LOOP_KEY);
}

void recording_end(struct recording *recording, uint8_t **bytes, size_t *count)
{
    stream_end(&recording->stream);
    *bytes = recording->stream.bytes;
    *count = recording->stream.count;
    free(recording->objects);
    index_free(&recording->keys);
}

void recording_at(struct recording *recording, uint64_t time, uint16_t cpu)
{
    stream_at(&recording->stream, time, cpu % STREAM_CPUS);
    if (recording->events++ == 0)
        PUT(recording, HELLO, hello, .version = PROF_FORMAT_VERSION,
            .pointer_bits = 64);
}

/* The number of (key), RECORDING_NONE if there are too many. */
static uint32_t number_of(struct recording *recording, uint64_t key,
                          bool *is_new)
{
    uint32_t number = index_find(&recording->keys, key);

    *is_new = false;
    if (number != INDEX_NONE)
        return number;
    if (recording->keys.count == OBJECTS_MAX)
        return RECORDING_NONE;
    number = index_add(&recording->keys, key, is_new);
    vector_reserve_one(&recording->objects, number, sizeof *recording->objects);
    recording->objects[number] = (struct recording_object){
        RECORDING_NONE, RECORDING_NONE, RECORDING_NONE, false};
    return number;
}

/* What (number) is after all that it became; there are no rings. */
static uint32_t became_last(struct recording *recording, uint32_t number)
{
    uint32_t last = number;

    while (recording->objects[last].becomes != RECORDING_NONE)
        last = recording->objects[last].becomes;
    while (number != last) { /* so that the next search is short */
        uint32_t next = recording->objects[number].becomes;

        recording->objects[number].becomes = last;
        number = next;
    }
    return last;
}

uint32_t recording_object(struct recording *recording, uint64_t key)
{
    bool is_new;
    uint32_t number = number_of(recording, key, &is_new);

    if (number == RECORDING_NONE)
        return RECORDING_LOOP;
    if (is_new && number != RECORDING_LOOP)
        PUT(recording, ALIVE, alive, .object = number);
    return became_last(recording, number);
}

void recording_create(struct recording *recording, uint64_t key,
                      enum prof_trace_kind kind)
{
    bool is_new;
    uint32_t number = number_of(recording, key, &is_new);

    if (is_new)
        PUT(recording, CREATE_WIDE, create_wide, .object = number,
            .object_kind = (uint8_t)kind);
}

static uint32_t current_object(const struct recording *recording)
{
    return recording->current[recording->stream.cpu];
}

void recording_start(struct recording *recording, uint32_t object)
{
    PUT(recording, SWITCH_WIDE, switch_wide, object);
    recording->current[recording->stream.cpu] = object;
    recording->left[recording->stream.cpu] = false;
}

void recording_suspend(struct recording *recording, uint16_t why)
{
    PUT(recording, SUSPEND_WIDE, suspend_wide, why);
    recording->left[recording->stream.cpu] = true;
}

void recording_run(struct recording *recording, uint32_t object)
{
    bool left = recording->left[recording->stream.cpu];

    if (object == current_object(recording) && !left)
        return;
    if (current_object(recording) != RECORDING_LOOP && !left)
        recording_suspend(recording, 0);
    recording_start(recording, object);
}

void recording_idle(struct recording *recording, uint16_t why)
{
    recording_run(recording, RECORDING_LOOP);
    recording_suspend(recording, why);
}

void recording_read(struct recording *recording, uint32_t object,
                    uint32_t source, bool must_wait)
{
    uint32_t before = current_object(recording);
    bool left = recording->left[recording->stream.cpu];

    if (source == RECORDING_LOOP)
        return;
    if (object != before)
        recording_start(recording, object);
    if (must_wait)
        PUT(recording, TRY_READ_WIDE, try_read_wide, source);
    else
        PUT(recording, READ_WIDE, read_wide, source);
    if (object == before)
        return;
    recording_suspend(recording, 0);
    recording_start(recording, before);
    if (left)
        recording_suspend(recording, 0);
}

/* Whether (object) may end; it does. */
static bool end_object(struct recording *recording, uint32_t object)
{
    bool may = object != RECORDING_LOOP && !recording->objects[object].ended;

    recording->objects[object].ended = true;
    return may;
}

void recording_resolve(struct recording *recording, uint32_t object)
{
    if (end_object(recording, object))
        PUT(recording, RESOLVE_WIDE, resolve_wide, object);
}

void recording_fail(struct recording *recording, uint32_t object, uint16_t why)
{
    if (end_object(recording, object))
        PUT(recording, FAIL_WIDE, fail_wide, object, why);
}

void recording_become(struct recording *recording, uint32_t object,
                      uint32_t other)
{
    bool runs = object == current_object(recording);

    if (object == other || other == RECORDING_LOOP ||
        !end_object(recording, object))
        return;
    if (runs)
        recording_suspend(recording, 0);
    PUT(recording, BECOME_WIDE, become_wide, object, other);
    recording->objects[object].becomes = other;
    if (runs)
        recording_start(recording, other);
}

void recording_signal(struct recording *recording, uint32_t source,
                      uint32_t object)
{
    PUT(recording, SIGNAL_WIDE, signal_wide, source, object);
}

void recording_label(struct recording *recording, uint32_t object,
                     uint16_t label)
{
    PUT(recording, LABEL_WIDE, label_wide, object, label);
}

void recording_counter(struct recording *recording, uint16_t counter,
                       int64_t value)
{
    PUT(recording, COUNTER_WIDE, counter_wide, counter, value);
}

void recording_pause(struct recording *recording, uint16_t why, uint64_t clocks)
{
    PUT(recording, PAUSE, pause, why,
        clocks < UINT32_MAX ? (uint32_t)clocks : UINT32_MAX);
}

void recording_lose(struct recording *recording)
{
    PUT(recording, LOST, lost, 0);
}
