/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ENCODER_H
#define PROF_ENCODER_H

/* The state of the encoder, for stream.c alone; control/outside.c has addresses
 * of it. Contexts: thread. */

#include "base/cpu.h"
#include "stream/packet.h"
#include "stream/stream.h"

struct prof_encoder {
    struct prof_packet_writer writer; /* its transport if prof_stream_is_on */
    prof_stream_tree *tree;
    const struct prof_config *config;
    uint64_t bytes; /* of the packets that were taken */
    struct prof_checked checked;
    uint64_t sample_begin; /* clock that the next sample's time begins at */
    uint32_t rate_mhz, depth;
    bool running;
    bool hello_due; /* the next packet begins with HELLO */
    bool gap;       /* something was discarded since the last packet */
};

extern struct prof_encoder prof_encoders[PROF_CPUS_MAX];

#endif
