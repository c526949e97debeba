/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_FEEDER_H
#define MODEL_FEEDER_H

/* Streams for tests of the model. Included after <cmocka.h>. */

#include "stream_maker.h"
#include "trace/model.h"

#define STEP 10000u /* clocks between two events: 1 kHz */

/* Gives the packets of (made) but the one numbered (lost) to (model). */
static inline void feed(const struct made *made, unsigned lost,
                        struct model *model)
{
    for (unsigned i = 0; i < made->sequence; ++i) {
        size_t bytes;
        const uint8_t *at = made_packet(made, i, &bytes);
        struct packet packet;

        assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
        if (i != lost)
            model_take(model, &packet);
    }
}

static inline struct made *begun(void)
{
    struct made *made = calloc(1, sizeof *made);

    made->packet_room = 4096;
    made_hello(made, 64);
    made_start(made, 1000000, 64);
    return made;
}

static inline void finish(struct made *made, struct model *model)
{
    model_free(model);
    free(made->bytes);
    free(made);
}

#endif
