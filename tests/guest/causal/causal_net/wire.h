/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WIRE_H
#define WIRE_H

/*
 * A network device that is not there, and clients of a service that are not
 * there either: so all that happens is counted in instructions, and repeats.
 * It takes the place of drivers/virtio_net.c (ldflags).
 *
 * The clients speak as much TCP as is needed: they answer when the doorbell has
 * rung, after times that depend on the client and on the number of its
 * request, and notice whatever is lost, repeated or reset.
 */

#include <stdbool.h>
#include <stdint.h>

#define WIRE_PORT 80u
#define WIRE_REQUEST 50u /* bytes */
#define WIRE_CLIENTS 160u

enum wire_kind {
    WIRE_CLOSED, /* the next request follows the answer */
    WIRE_OPEN,   /* requests are sent on a schedule */
    WIRE_PARTLY, /* connections are opened on one */
};

struct wire {
    enum wire_kind kind;
    unsigned clients;
    unsigned requests;      /* of a connection */
    uint32_t round_trip_us; /* on average; or of the schedule, the interval */
    uint32_t interval_us;   /* of OPEN and PARTLY */
};

/* Clients begin; of those before there MUST be none. */
void wire_begin(const struct wire *wire);

/* Resets all connections. Outside of experiments, when nothing is held. */
void wire_end(void);

/* Time passes until something arrives or is due, or for a while: turns of the
 * loop meanwhile would cost the emulator much. */
void wire_idle(void);

struct wire_counts {
    uint64_t requests, answers;
    uint32_t strange; /* packets from the service that should not have been */
    uint32_t connections;
    uint32_t least; /* answers of the client that has fewest, */
};
struct wire_counts wire_counts(void);
void wire_mark(void); /* since that */

#endif
