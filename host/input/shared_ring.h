/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUT_SHARED_RING_H
#define INPUT_SHARED_RING_H

/*
 * Packets in the guest's RAM (struct prof_share). The RAM is a file that both
 * QEMU and this command map, so reading does not disturb the guest. It also
 * works after the guest died, as long as the file exists.
 *
 * The guest may write anything at any moment. One call of shared_ring_read()
 * looks at a bounded number of bytes, so that whoever calls it repeatedly can
 * also be interrupted.
 */

#include "trace/packet.h"

#define SHARED_RING_BYTES_MAX (1u << 30) /* of a ring */
#define SHARED_RING_STEP (1u << 20)      /* bytes of one call, about */

struct shared_ring {
    const char *path;
    uint8_t *ram;
    size_t ram_bytes;
    uint64_t ring; /* offset of struct prof_share in the file */
    uint64_t read; /* bytes since the guest's start */
    uint64_t step; /* bytes of one call, about; 0 = SHARED_RING_STEP */
    bool in_step;  /* a packet begins at (read) */
    bool damaged;  /* what the guest says of its ring cannot be, or the file
                      was cut */
    uint64_t
        overwritten; /* bytes that were overwritten before they were read */
};

#define SHARED_RING_WHY 512

/* Maps the file (path), which may still be empty; (ring) is the ring's address.
 * Returns false with the reason in (why), of SHARED_RING_WHY bytes; "" = there
 * is no such file yet, or it is too short. */
bool shared_ring_try(struct shared_ring *share, const char *path, uint64_t ring,
                     char *why);

/* The same; ends the process for any other reason. */
bool shared_ring_open(struct shared_ring *share, const char *path,
                      uint64_t ring);

/* Passes new packets to the sink. Returns whether there were new bytes. If not,
 * (damaged) says whether there will ever be. */
bool shared_ring_read(struct shared_ring *share,
                      const struct packet_sink *sink);

/* The same until there are no new bytes, or one ring of them was read. */
void shared_ring_read_rest(struct shared_ring *share,
                           const struct packet_sink *sink);

/* Bytes of the ring, 0 = there is none. */
uint64_t shared_ring_room(struct shared_ring *share);

void shared_ring_close(struct shared_ring *share);

#endif
