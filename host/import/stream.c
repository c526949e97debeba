/* SPDX-License-Identifier: Apache-2.0 */
/* Packets, written to memory. */

#include "import/stream.h"

#include "base/crc32c.h"
#include "base/memory.h"

#include <string.h>

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
static uint8_t *more(struct stream *stream, size_t bytes)
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

    memcpy(more(stream, sizeof word), &word, sizeof word);
    if (code == PROF_KIND_ESCAPE)
        memcpy(more(stream, sizeof extension), &extension, sizeof extension);
}

void stream_put(struct stream *stream, enum prof_event kind, const void *fields,
                size_t bytes)
{
    if (stream->count - stream->packet > PACKET_BYTES - EVENT_MAX)
        end_packet(stream);
    if (stream->count == stream->packet) {
        memset(more(stream, PROF_PACKET_BYTES), 0, PROF_PACKET_BYTES);
        stream->begin = stream->time;
    }
    put_head(stream, kind, bytes);
    memcpy(more(stream, bytes), fields, bytes);
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
