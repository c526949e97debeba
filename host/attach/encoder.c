/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of samples; the forms of events are explained in <prof/format.h>. */

#include "attach/encoder.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_BYTES_MAX 128u

static void finish_packet(struct encoder *encoder, size_t number)
{
    struct encoder_cpu *cpu = &encoder->cpus[number];
    struct prof_packet head = {
        .magic = PROF_PACKET_MAGIC,
        .begin = cpu->begin,
        .end = cpu->last,
        .discarded = number == 0 ? encoder->discarded : 0,
        .content_bits = (uint32_t)cpu->used * 8,
        .packet_bits = (uint32_t)cpu->used * 8,
        .sequence = cpu->sequence,
        .cpu = (uint16_t)number,
        .version = PROF_FORMAT_VERSION,
        .text_begin = encoder->text_begin,
    };
    struct packet packet;

    if (cpu->used == 0)
        return;
    ++cpu->sequence;
    memcpy(head.uuid, encoder->uuid, sizeof head.uuid);
    memcpy(cpu->packet, &head, sizeof head);
    head.crc = crc32c(0, cpu->packet, cpu->used);
    memcpy(cpu->packet, &head, sizeof head);
    if (packet_check(cpu->packet, cpu->used, &packet) == PACKET_GOOD)
        encoder->sink.take(encoder->sink.owner, &packet);
    cpu->used = 0;
}

/* Room for (bytes) of an event at (time). */
static uint8_t *room_for(struct encoder *encoder, size_t number, uint64_t time,
                         size_t bytes)
{
    struct encoder_cpu *cpu = &encoder->cpus[number];

    if (cpu->used + bytes > sizeof cpu->packet)
        finish_packet(encoder, number);
    if (cpu->used == 0) {
        cpu->used = PROF_PACKET_BYTES;
        cpu->begin = cpu->last = time;
    }
    cpu->used += bytes;
    return cpu->packet + cpu->used - bytes;
}

static void put_plain(struct encoder *encoder, size_t number, uint64_t time,
                      enum prof_event kind, const void *fields, size_t bytes)
{
    bool extended = kind >= PROF_KIND_EXTENDED;
    uint64_t code = extended ? PROF_KIND_ESCAPE : kind;
    uint8_t *to = room_for(encoder, number, time,
                           PROF_EVENT_HEAD_BYTES + 2 * extended + bytes);

    put_le(to,
           (time & PROF_EVENT_TIME_MASK)
                   << (PROF_EVENT_KIND_BITS + PROF_EVENT_TAG_BITS) |
               code << PROF_EVENT_TAG_BITS | PROF_EVENT_OTHER,
           PROF_EVENT_HEAD_BYTES);
    to += PROF_EVENT_HEAD_BYTES;
    if (extended) {
        *to++ = (uint8_t)kind;
        *to++ = (uint8_t)bytes;
    }
    if (bytes > 0)
        memcpy(to, fields, bytes);
    encoder->cpus[number].last = time;
}

/* An event at (time), after a clock if the last event is too long ago. */
static void put_event(struct encoder *encoder, size_t number, uint64_t time,
                      enum prof_event kind, const void *fields, size_t bytes)
{
    struct encoder_cpu *cpu = &encoder->cpus[number];

    if (cpu->used > 0 && time - cpu->last > PROF_EVENT_TIME_MASK / 2) {
        if (cpu->used + EVENT_BYTES_MAX > sizeof cpu->packet)
            finish_packet(encoder, number);
        else
            put_plain(encoder, number, time, PROF_EVENT_CLOCK,
                      &(struct prof_event_clock){time},
                      sizeof(struct prof_event_clock));
    }
    put_plain(encoder, number, time, kind, fields, bytes);
}

#define PUT(encoder, cpu, time, kind, ...)                                     \
    put_event(encoder, cpu, time, kind, &(__VA_ARGS__), sizeof(__VA_ARGS__))

/* The node of (address) below (parent), defined if it is new. */
static uint32_t node(struct encoder *encoder, size_t cpu, uint64_t time,
                     uint32_t parent, uint64_t address)
{
    uint32_t at = index_add(&encoder->addresses, address, NULL);
    bool is_new;
    uint32_t found =
        1 + index_add(&encoder->nodes, index_pair(parent, at), &is_new);

    if (is_new)
        PUT(encoder, cpu, time, PROF_EVENT_NODE_WIDE,
            (struct prof_event_node_wide){found, parent, address});
    return found;
}

void encoder_begin(struct encoder *encoder, size_t cpus,
                   const struct event_hello *hello, uint32_t rate_mhz,
                   uint32_t depth)
{
    struct prof_event_hello fields = {
        .version = hello->version,
        .pointer_bits = hello->pointer_bits,
        .tsc_hz = hello->tsc_hz,
        .unix_seconds = hello->unix_seconds,
        .text_begin = hello->text_begin,
        .text_end = hello->text_end,
        .build_id_bytes = hello->build_id_bytes,
    };

    memcpy(fields.build_id, hello->build_id, sizeof fields.build_id);
    encoder->text_begin = hello->text_begin;
    encoder->cpu_count = cpus;
    encoder->cpus = xreallocarray(NULL, cpus, sizeof *encoder->cpus);
    memset(encoder->cpus, 0, cpus * sizeof *encoder->cpus);
    PUT(encoder, 0, 0, PROF_EVENT_HELLO, fields);
    for (size_t i = 0; i < cpus; ++i)
        PUT(encoder, i, 0, PROF_EVENT_START,
            (struct prof_event_start){rate_mhz, depth});
}

void encoder_sample(struct encoder *encoder, size_t cpu, uint64_t time,
                    const uint64_t *addresses, size_t count)
{
    uint32_t leaf = 0;

    while (count-- > 0)
        leaf = node(encoder, cpu, time, leaf, addresses[count]);
    PUT(encoder, cpu, time, PROF_EVENT_SAMPLE_WIDE,
        (struct prof_event_sample_wide){leaf});
}

void encoder_idle(struct encoder *encoder, size_t cpu, uint64_t time)
{
    put_event(encoder, cpu, time, PROF_EVENT_IDLE, NULL, 0);
}

void encoder_masked(struct encoder *encoder, size_t cpu, uint64_t time)
{
    put_event(encoder, cpu, time, PROF_EVENT_MASKED, NULL, 0);
}

void encoder_inside(struct encoder *encoder, uint64_t time,
                    const uint8_t uuid[16], uint64_t newest)
{
    PUT(encoder, 0, time, PROF_EVENT_INSIDE,
        (struct prof_event_inside){le64(uuid), le64(uuid + 8), newest});
}

void encoder_miss(struct encoder *encoder, size_t cpu, uint64_t time,
                  uint32_t ticks)
{
    PUT(encoder, cpu, time, PROF_EVENT_MISS, (struct prof_event_miss){ticks});
}

void encoder_stopped(struct encoder *encoder, size_t cpu, uint64_t time,
                     enum prof_walk_stop reason)
{
    PUT(encoder, cpu, time, PROF_EVENT_STOPPED_WALK,
        (struct prof_event_stopped_walk){(uint16_t)reason, 1});
}

void encoder_flush(struct encoder *encoder)
{
    for (size_t i = 0; i < encoder->cpu_count; ++i)
        finish_packet(encoder, i);
}

void encoder_end(struct encoder *encoder, uint64_t time)
{
    for (size_t i = 0; i < encoder->cpu_count; ++i)
        put_event(encoder, i, time, PROF_EVENT_STOP, NULL, 0);
    PUT(encoder, 0, time, PROF_EVENT_BYE, (struct prof_event_bye){0});
    encoder_flush(encoder);
    index_free(&encoder->nodes);
    index_free(&encoder->addresses);
    free(encoder->cpus);
    encoder->cpus = NULL;
    encoder->cpu_count = 0;
}
