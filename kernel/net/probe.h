/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_PROBE_H
#define KERNEL_NET_PROBE_H

/*
 * Which kind of peers (rules.h) send, by a trial: for a while all that they
 * send is held for 20 ms, and for as long it is not, in turn. Those who wait
 * for our answers send less while it is held, and open fewer connections. Of
 * the others some wait in each connection: from them no request comes before
 * the last one has its answer.
 *
 * Clients that think for much longer than 20 ms between two requests send as
 * much while they are held, and are taken for an open loop. Contexts: thread.
 */

#include <stdbool.h>
#include <stdint.h>

enum net_peer_kind { NET_PEER_CLOSED, NET_PEER_OPEN, NET_PEER_PARTLY };

struct net_probe {
    bool on;
    bool holds;      /* this half of a round */
    uint32_t rounds; /* that have ended */
    uint64_t hold;   /* cycles */
    uint64_t begin;  /* real time, of this half */
    uint64_t last;   /* virtual time until which something is held */
    uint32_t requests, requests_held;
    uint32_t early; /* of the latter: the last one had no answer */
    uint32_t connections, connections_held; /* new ones */
};

/* What was found. */
struct net_probe_result {
    enum net_peer_kind kind;
    bool known;        /* there were enough requests */
    uint32_t per_cent; /* requests, or connections where there are many, while
                        * they are held, of those otherwise */
};

void net_probe_begin(struct net_probe *probe, uint64_t tsc_hz, uint64_t now);

/* What has arrived. */
enum net_probe_event {
    NET_PROBE_OTHER,      /* no request */
    NET_PROBE_CONNECTION, /* a new one */
    NET_PROBE_REQUEST,
    NET_PROBE_EARLY, /* the one before it had no answer */
};

/* Something has arrived at (now), real time, and is due at (due), virtual time,
 * without the trial. When it is due: later perhaps, but in the same order. */
uint64_t net_probe_hold(struct net_probe *probe, enum net_probe_event event,
                        uint64_t now, uint64_t due);

/* Whether the trial has ended, and with which result. */
bool net_probe_ended(struct net_probe *probe, struct net_probe_result *result);

#endif
