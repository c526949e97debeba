/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_FEEDER_H
#define MODEL_FEEDER_H

/* Streams for tests of the model. Included after <cmocka.h>. */

#include "event_script.h"
#include "trace/model.h"

#define STEP 10000u /* clocks between two events: 1 kHz */

static struct made *made;
static struct model model;

static inline void begin_model(void)
{
    made = calloc(1, sizeof *made);
    made->packet_room = 4096;
    made_hello(made, 64);
    made_start(made, 1000000, 64);
    model = (struct model){0};
}

static inline void end_model(void)
{
    model_free(&model);
    free(made->bytes);
    free(made);
}

/* Packet (index), which is a good one. */
static inline struct packet packet_of(unsigned index)
{
    size_t bytes;
    const uint8_t *at = made_packet(made, index, &bytes);
    struct packet packet;

    assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
    return packet;
}

/* Gives all packets but the one numbered (lost) to the model. */
static inline void feed_without(unsigned lost)
{
    made_flush(made);
    for (unsigned i = 0; i < made->sequence; ++i) {
        struct packet packet = packet_of(i);

        if (i != lost)
            model_take(&model, &packet);
    }
}

static inline void feed(void)
{
    feed_without(UINT32_MAX);
}

#endif
