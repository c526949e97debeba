/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_PEERS_H
#define KERNEL_NET_PEERS_H

/*
 * How many connections each address has. There is one record for each address
 * with a connection, so there are no more records than connections.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct net_peer_address {
    uint32_t ip;
    uint32_t connections;          /* open or closing */
    struct net_peer_address *next; /* private: of the same hash */
};

/* Counts one more connection of (ip). NULL: no memory for its record.
 * Contexts: thread. */
struct net_peer_address *net_peer_begin(uint32_t ip);

/* Counts one fewer, and frees the record after the last one. */
void net_peer_end(struct net_peer_address *peer);

#endif
