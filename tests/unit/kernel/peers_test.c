/* SPDX-License-Identifier: Apache-2.0 */
/* How many connections each address has. */

#include "../unit.h"

#include "../../../kernel/net/net.h"
#include "../../../kernel/net/peers.h"

#define ADDRESSES 3000u

static unsigned records;
static bool no_memory;

void *net_port_alloc_zeroed(size_t count, size_t bytes)
{
    if (no_memory)
        return NULL;
    records++;
    return calloc(count, bytes);
}

void net_port_free(void *piece)
{
    records--;
    free(piece);
}

TEST(each_address_is_counted_by_itself)
{
    struct net_peer_address *first, *second;

    first = net_peer_begin(0x0a000202);
    second = net_peer_begin(0x0a000203);
    assert_ptr_not_equal(first, second);
    for (unsigned i = 0; i < 1000; i++)
        assert_ptr_equal(net_peer_begin(0x0a000202), first);
    assert_int_equal(first->connections, 1001);
    assert_int_equal(second->connections, 1);
    net_peer_end(second);
    assert_int_equal(first->connections, 1001);
    for (unsigned i = 0; i < 1001; i++)
        net_peer_end(first);
    assert_int_equal(records, 0);
}

/* Addresses of one hash, too, ended in another order. */
TEST(records_end_with_connections)
{
    static struct net_peer_address *peers[ADDRESSES];

    for (uint32_t i = 0; i < ADDRESSES; i++) {
        peers[i] = net_peer_begin(i * 0x01000001u);
        assert_non_null(peers[i]);
        assert_int_equal(peers[i]->connections, 1);
    }
    assert_int_equal(records, ADDRESSES);
    for (uint32_t i = 0; i < ADDRESSES; i++)
        net_peer_end(peers[i * 7 % ADDRESSES]);
    assert_int_equal(records, 0);
}

TEST(refused_memory_counts_nothing)
{
    struct net_peer_address *peer = net_peer_begin(1);

    no_memory = true;
    assert_null(net_peer_begin(2));
    assert_ptr_equal(net_peer_begin(1), peer);
    no_memory = false;
    net_peer_end(peer);
    net_peer_end(peer);
    assert_int_equal(records, 0);
}
