/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ENCODER_H
#define PROF_ENCODER_H

/* The state of the encoder, for stream.c and samples.c alone; control/outside.c
 * has addresses of it. Contexts: thread. */

#include "stream/checked.h"
#include "stream/interning.h"
#include "stream/packet.h"
#include "stream/put.h"
#include "stream/stream.h"

/* Half a wrap of the time in an event's head. */
#define PROF_HALF_WRAP ((uint64_t)1 << (PROF_EVENT_TIME_BITS - 1))

struct prof_encoder {
    const struct prof_transport *transport; /* if prof_stream_is_on */
    prof_stream_tree *tree;
    const struct prof_config *config;
    struct prof_stream_clock clock;
    struct prof_packet_label label; /* of the packet in the making */
    struct prof_stream_sums sums;
    struct prof_interning interning;
    struct prof_checked checked;
    uint64_t last;         /* clock of the last event, sent or discarded */
    uint64_t sample_begin; /* clock that the next sample's time begins at */
    uint32_t rate_mhz, depth;
    bool running;
    bool stuck;     /* the transport has refused a packet */
    bool hello_due; /* the next packet begins with HELLO */
    bool gap;       /* something was discarded since the last packet */
    struct prof_packet_maker packet; /* the one in the making */
};

extern struct prof_encoder prof_encoder;

/* Sends the packet in the making. */
void prof_encoder_send(void);

/* Makes sure that a packet is begun and (bytes) more fit into it, for an event
 * at (clock). False: the transport refuses. */
bool prof_encoder_make_room(uint64_t clock, uint32_t bytes);

/* Puts an event that is (samples) samples, or covers a time without. */
void prof_encoder_put_samples(enum prof_event kind, uint64_t tsc,
                              const void *fields, uint32_t bytes,
                              uint64_t samples);

/* The time of (tsc), or of the last event where that was later. */
static inline uint64_t prof_encoder_clock(uint64_t tsc)
{
    uint64_t clock = prof_stream_clock_at(&prof_encoder.clock, tsc);

    return clock > prof_encoder.last ? clock : prof_encoder.last;
}

#endif
