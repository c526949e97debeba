/* SPDX-License-Identifier: Apache-2.0 */

#include "peers.h"

#include "net.h"

#define BUCKETS 256u

static struct net_peer_address *buckets[BUCKETS];

/* All octets count: peers may differ in any of them. */
static struct net_peer_address **bucket_of(uint32_t ip)
{
    return &buckets[(ip ^ ip >> 8 ^ ip >> 16 ^ ip >> 24) % BUCKETS];
}

struct net_peer_address *net_peer_begin(uint32_t ip)
{
    struct net_peer_address **bucket = bucket_of(ip);
    struct net_peer_address *peer = *bucket;

    while (peer != NULL && peer->ip != ip)
        peer = peer->next;
    if (peer == NULL) {
        peer = net_port_alloc_zeroed(1, sizeof *peer);
        if (peer == NULL)
            return NULL;
        peer->ip = ip;
        peer->next = *bucket;
        *bucket = peer;
    }
    peer->connections++;
    return peer;
}

void net_peer_end(struct net_peer_address *peer)
{
    struct net_peer_address **link = bucket_of(peer->ip);

    if (--peer->connections != 0)
        return;
    while (*link != peer)
        link = &(*link)->next;
    *link = peer->next;
    net_port_free(peer);
}
