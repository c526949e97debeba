/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_STREAM_H
#define IMPORT_STREAM_H

/*
 * Writes packets as a guest does (<prof/format.h>), to memory. One packet is in
 * the making; it ends where it is full, or where the CPU changes, so that
 * packets in the order of their begin have the events in their order.
 */

#include "base/strings.h"

#include <prof/format.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_CPUS 256u

/* Starts as zeros. */
struct stream {
    uint8_t *bytes;
    size_t count;
    size_t room;
    size_t packet;  /* where the one in the making begins; count = none */
    uint64_t time;  /* clocks, of the last event; it never goes back */
    uint64_t begin; /* of the packet */
    uint16_t cpu;
    uint32_t sequences[STREAM_CPUS]; /* of each CPU's next packet */
    struct strings names;            /* that are defined, by their numbers */
};

/* The events that follow happen on (cpu) at (time). */
void stream_at(struct stream *stream, uint64_t time, uint16_t cpu);

/* Puts an event with (bytes) bytes of fields, at most 255. */
void stream_put(struct stream *stream, enum prof_event kind, const void *fields,
                size_t bytes);

/* The number of a name of (bytes) bytes, which is defined if it is new: up to
 * its first NUL, and to 250 bytes. 0 if it is empty, or there are too many. */
uint16_t stream_name(struct stream *stream, const void *text, size_t bytes);

/* Ends the last packet, and frees all but (bytes). */
void stream_end(struct stream *stream);

#endif
