/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Packets are padded to a multiple of eight bytes, so that in shared memory
 * one begins where the one before ended.
 */

#include "packet.h"

#include "crc.h"

#define HEAD_BYTES 4u
#define ALIGN 8u

_Static_assert(PROF_PACKET_DEFAULT % ALIGN == 0, "a full packet needs padding");

/* Byte by byte: no alignment, and no call for the few bytes of an event. */
static void copy(uint8_t *to, const void *from, uint32_t bytes)
{
    const uint8_t *next = from;

    while (bytes-- > 0)
        *to++ = *next++;
}

bool prof_packet_fits(const struct prof_packet_maker *packet, uint32_t bytes)
{
    uint32_t used = packet->used != 0 ? packet->used : PROF_PACKET_BYTES;

    return used + HEAD_BYTES + bytes <= sizeof packet->data;
}

void prof_packet_put(struct prof_packet_maker *packet, enum prof_event kind,
                     uint64_t clock, const void *fields, uint32_t bytes)
{
    uint32_t time = (uint32_t)clock & PROF_EVENT_TIME_MASK;
    uint32_t head = time << PROF_EVENT_KIND_BITS | (uint32_t)kind;

    if (packet->used == 0) {
        packet->used = PROF_PACKET_BYTES;
        packet->begin = clock;
    }
    copy(packet->data + packet->used, &head, HEAD_BYTES);
    copy(packet->data + packet->used + HEAD_BYTES, fields, bytes);
    packet->used += HEAD_BYTES + bytes;
    packet->end = clock;
}

void prof_packet_close(struct prof_packet_maker *packet,
                       const struct prof_packet_place *place)
{
    struct prof_packet head = {
        .magic = PROF_PACKET_MAGIC,
        .begin = packet->begin,
        .end = packet->end,
        .discarded = place->discarded,
        .content_bits = packet->used * 8,
        .sequence = place->sequence,
    };

    packet->bytes = (packet->used + ALIGN - 1) / ALIGN * ALIGN;
    head.packet_bits = packet->bytes * 8;
    copy(head.uuid, place->uuid, sizeof head.uuid);
    for (uint32_t i = packet->used; i < packet->bytes; i++)
        packet->data[i] = 0;
    copy(packet->data, &head, sizeof head);
    head.crc = prof_crc32c(0, packet->data, packet->used);
    copy(packet->data, &head, sizeof head);
}

void prof_packet_clear(struct prof_packet_maker *packet)
{
    packet->used = 0;
    packet->bytes = 0;
}
