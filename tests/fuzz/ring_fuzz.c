/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds anything to what reads a ring in a guest's RAM.
 *
 * The input is the RAM, with a struct prof_share at its beginning; its second
 * half is what the guest makes of it while it is read. The first byte says how
 * large the ring is, and whether its address and magic are made right, so that
 * the fuzzer gets at the packets.
 */

#include "fuzz.h"

#include "input/shared_ring.h"
#include "../unit/host/stream_maker.h"

#define MEND 1u
#define HEAD sizeof(struct prof_share)

static void take(void *owner, const struct packet *packet)
{
    size_t *taken = owner;

    require(packet->total_bytes <= PROF_PACKET_MAX);
    *taken += packet->total_bytes;
}

static void mend(uint8_t *ram, size_t ram_bytes, unsigned shift)
{
    struct prof_share head;

    memcpy(&head, ram, sizeof head);
    head.magic = PROF_SHARE_MAGIC;
    head.ring_address = HEAD;
    head.ring_bytes = 128ull << shift;
    while (head.ring_bytes > ram_bytes - HEAD && head.ring_bytes > 64)
        head.ring_bytes /= 2;
    memcpy(ram, &head, sizeof head);
}

/* A few calls come to the end of what any guest can have written. */
static void read_ring(struct shared_ring *share, const struct packet_sink *sink)
{
    for (unsigned calls = 0; shared_ring_read(share, sink); ++calls)
        require(calls < 16);
    shared_ring_read_rest(share, sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    size_t half = bytes > 0 ? (bytes - 1) / 2 / 8 * 8 : 0, taken = 0;
    struct packet_sink sink = {take, &taken};
    struct shared_ring share = {.path = "ram"};

    if (half < HEAD)
        return 0;
    share.ram = malloc(half);
    share.ram_bytes = half;
    for (unsigned i = 0; i < 2; ++i) {
        memcpy(share.ram, data + 1 + i * half, half);
        if ((data[0] & MEND) != 0)
            mend(share.ram, half, data[0] >> 1 & 15);
        read_ring(&share, &sink);
    }
    free(share.ram);
    return 0;
}
