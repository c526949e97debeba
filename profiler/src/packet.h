/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PACKET_H
#define PROF_PACKET_H

/*
 * One packet in the making (<prof/format.h>): events are put into it until it
 * is full or old, then it is closed and may be sent, again and again until
 * somebody takes it. Contexts: thread. No allocation.
 */

#include <prof/format.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_packet_maker {
    uint64_t begin; /* clock of the first event */
    uint64_t end;   /* clock of the last one */
    uint32_t used;  /* bytes so far, 0 = no event yet */
    uint32_t bytes; /* once it is closed, as long as it is sent; before, 0 */
    uint8_t data[PROF_PACKET_DEFAULT];
};

/* What only the stream knows of a packet. */
struct prof_packet_place {
    uint8_t uuid[16];
    uint64_t discarded;
    uint32_t sequence;
};

/* Whether an event whose fields take (bytes) still fits. */
bool prof_packet_fits(const struct prof_packet_maker *packet, uint32_t bytes);

/*
 * Puts event (kind) at time (clock), not before the last one's, with (bytes)
 * bytes of (fields). It fits, and the packet is not closed.
 */
void prof_packet_put(struct prof_packet_maker *packet, enum prof_event kind,
                     uint64_t clock, const void *fields, uint32_t bytes);

/* Writes the head: from now on data[0 .. bytes) may be sent. */
void prof_packet_close(struct prof_packet_maker *packet,
                       const struct prof_packet_place *place);

/* Begins the next one. */
void prof_packet_clear(struct prof_packet_maker *packet);

#endif
