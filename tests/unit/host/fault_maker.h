/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_MAKER_H
#define FAULT_MAKER_H

/*
 * A stream for tests of damage, and who looks at what is left of it: which
 * packets were found, each of which must be one that was made.
 */

#include "trace/packet.h"
#include "stream_maker.h"

#define FAULT_PACKETS 8u

struct found {
    unsigned count[FAULT_PACKETS]; /* by sequence */
    unsigned wrong;                /* packets that were never made */
};

static struct made *made;

/* Packets of ROOM bytes, which a test defines. */
static inline void make_faults(void)
{
    made = calloc(1, sizeof *made);
    made->packet_room = ROOM;
    made->step = 10000;
    made->boot = 0x5a; /* zeros at one place would pass for those at another */
    made_hello(made, 64);
    made_start(made, 1000000, 64);
    for (uint32_t i = 1; made->sequence < FAULT_PACKETS; ++i) {
        made_node(made, i, i - 1, 0x100000 + 16 * i);
        made_sample(made, i);
    }
    made->used = 0;
}

static inline void free_faults(void)
{
    free(made->bytes);
    free(made);
}

FIXTURE(make_faults, free_faults);

static inline void note_found(void *owner, const struct packet *packet)
{
    struct found *found = owner;
    const uint8_t *bytes;
    size_t count;

    if (packet->sequence >= FAULT_PACKETS) {
        ++found->wrong;
        return;
    }
    bytes = made_packet(made, packet->sequence, &count);
    if (packet->total_bytes != count ||
        memcmp(packet->bytes, bytes, count) != 0)
        ++found->wrong;
    ++found->count[packet->sequence];
}

/* All packets but those in (touched), a bit mask, were found once. */
static inline void require_others(struct found found, unsigned touched)
{
    for (unsigned i = 0; i < FAULT_PACKETS; ++i)
        assert_int_equal(found.count[i], (touched >> i & 1) == 0);
}

/* The offset of the packet (index) among the bytes that were made. */
static inline size_t made_offset(size_t index)
{
    size_t bytes;

    return index < FAULT_PACKETS
               ? (size_t)(made_packet(made, index, &bytes) - made->bytes)
               : made->count;
}

/* The index of the packet that the byte at (offset) belongs to. */
static inline unsigned made_owner(size_t offset)
{
    unsigned index = 0;

    while (made_offset(index + 1) <= offset)
        ++index;
    return index;
}

#endif
