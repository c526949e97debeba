/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MENDED_PACKETS_H
#define MENDED_PACKETS_H

/* Inputs that readers of streams do not refuse at the first checksum. Needs
 * _GNU_SOURCE for memmem(). */

#include "../unit/host/stream_maker.h"

/* Every "packet" in (bytes) reaches up to the next magic: so it gets the length
 * and the checksum of that. */
static inline void mend(uint8_t *bytes, size_t count)
{
    static const uint8_t magic[4] = {0xc1, 0x1f, 0xfc, 0xc1};
    uint8_t *end = bytes + count, *at = bytes;

    while ((at = memmem(at, (size_t)(end - at), magic, 4)) != NULL) {
        uint8_t *next = memmem(at + 4, (size_t)(end - at) - 4, magic, 4);
        size_t room = (size_t)((next != NULL ? next : end) - at);
        uint32_t bits = (uint32_t)room * 8;

        if (room < PROF_PACKET_BYTES)
            return;
        memcpy(at + offsetof(struct prof_packet, content_bits), &bits, 4);
        memcpy(at + offsetof(struct prof_packet, packet_bits), &bits, 4);
        memset(at + offsetof(struct prof_packet, uuid), 0, 16);
        made_seal(at, room);
        at += room;
    }
}

#endif
