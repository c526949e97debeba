/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_ENCODER_H
#define ATTACH_ENCODER_H

/* Samples as packets of <prof/format.h>, as if the guest had sent them: so
 * everything that reads a trace reads these. Packets that are full go to a
 * sink; nothing is lost on the way, so each stack is defined once. */

#include "base/index.h"
#include "image/image.h"
#include "trace/packet.h"

#include <prof/format.h>

struct encoder_cpu {
    uint32_t sequence;
    uint64_t begin; /* of the packet in the making */
    uint64_t last;  /* time of its last event */
    size_t used;    /* bytes of it, 0 = none */
    uint8_t packet[PROF_PACKET_DEFAULT];
};

struct encoder {
    struct packet_sink sink;
    uint8_t uuid[16];
    uint64_t text_begin;
    uint64_t discarded; /* samples; written by the caller */
    struct index nodes; /* (parent, number in addresses) */
    struct index addresses;
    struct encoder_cpu *cpus;
    size_t cpu_count;
};

/* Begins the streams of (cpus) CPUs: hello and start, on CPU 0 at time 0. */
void encoder_begin(struct encoder *encoder, size_t cpus,
                   const struct event_hello *hello, uint32_t rate_mhz,
                   uint32_t depth);

/* A sample of (count) addresses, the innermost first, at (time). A CPU's times
 * do not fall. */
void encoder_sample(struct encoder *encoder, size_t cpu, uint64_t time,
                    const uint64_t *addresses, size_t count);
void encoder_idle(struct encoder *encoder, size_t cpu, uint64_t time);

/* Before the next sample: interrupts are off; ticks that did not come, a walk
 * that stopped early. */
void encoder_masked(struct encoder *encoder, size_t cpu, uint64_t time);
void encoder_miss(struct encoder *encoder, size_t cpu, uint64_t time,
                  uint32_t ticks);
void encoder_stopped(struct encoder *encoder, size_t cpu, uint64_t time,
                     enum prof_walk_stop reason);

/* What the guest's own profiler was seen to have at (time): on its own clock,
 * when it took its newest sample. (uuid) is that of its packets. */
void encoder_inside(struct encoder *encoder, uint64_t time,
                    const uint8_t uuid[16], uint64_t newest);

/* Sends what there is, so that it survives. */
void encoder_flush(struct encoder *encoder);

/* The last events, and what there is. */
void encoder_end(struct encoder *encoder, uint64_t time);

#endif
