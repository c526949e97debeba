/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Of which kind peers are, a trial finds out. Clients, a network and a
 * service that does one request at a time, in simulated time; many seeds.
 */

#include "../unit.h"

#include <math.h>

#include "../../../kernel/net/probe.h"

#define HZ 1000000u /* a cycle is a microsecond */
#define CLIENTS 256u
#define SEEDS 40u
#define LONG (20ull * HZ)

/* What peers do. */
struct world {
    enum net_peer_kind kind;
    uint32_t clients;     /* PARTLY: at most, at a time */
    uint32_t service_us;  /* for a request */
    uint32_t network_us;  /* from the answer to the next request, about */
    uint32_t interval_us; /* OPEN, PARTLY: between arrivals of all */
    uint32_t session;     /* requests in a connection; 0: all */
};

struct client {
    bool there, opens; /* it opens a connection next */
    uint64_t arrives;  /* the next request; UINT64_MAX: it waits */
    uint64_t due;      /* of one that is held; the same */
    uint64_t answered; /* the last request */
    uint32_t left;     /* requests of the connection */
};

static struct client clients[CLIENTS];
static struct net_probe probe;
static uint64_t now, next_arrival, service_free, last_due;

static uint64_t exponential(uint32_t mean)
{
    return (uint64_t)(-(double)mean * log(1 - unit_part())) + 1;
}

static uint64_t about(uint32_t us)
{
    return (uint64_t)(us * (0.5 + unit_part())) + 1;
}

static uint64_t hold(enum net_probe_event event)
{
    uint64_t due = net_probe_hold(&probe, event, now, now);

    assert_true(due >= now && due >= last_due);
    last_due = due;
    return due;
}

static void request(const struct world *world, struct client *client)
{
    bool early = client->answered > now;

    if (client->opens) {
        client->opens = false;
        client->arrives = hold(NET_PROBE_CONNECTION) + world->network_us;
        return;
    }
    client->due = hold(early ? NET_PROBE_EARLY : NET_PROBE_REQUEST);
    client->answered = UINT64_MAX; /* not known yet */
    client->arrives = UINT64_MAX;
}

/* Serves the one that is due. */
static void serve(const struct world *world, struct client *client)
{
    uint64_t begin = client->due > service_free ? client->due : service_free;

    service_free = begin + world->service_us;
    client->due = UINT64_MAX;
    client->answered = service_free;
    if (client->left != 0 && --client->left == 0) {
        client->there = client->opens = world->kind == NET_PEER_CLOSED;
        client->left = world->session;
    }
    client->arrives = service_free + about(world->network_us);
}

/* By itself: OPEN on any connection; PARTLY on a new one. */
static void arrive(const struct world *world)
{
    unsigned i = (unsigned)(unit_part() * world->clients);

    next_arrival = now + exponential(world->interval_us);
    if (world->kind == NET_PEER_OPEN) {
        uint64_t due;

        due = hold(clients[i].answered > now ? NET_PROBE_EARLY
                                             : NET_PROBE_REQUEST);
        service_free =
            (due > service_free ? due : service_free) + world->service_us;
        clients[i].answered = service_free;
        return;
    }
    for (i = 0; i < world->clients && clients[i].there; i++)
        continue;
    if (i == world->clients)
        return;
    (void)hold(NET_PROBE_CONNECTION);
    clients[i] = (struct client){true,       false, now + world->network_us,
                                 UINT64_MAX, 0,     world->session};
}

/* The next thing that happens. */
static void step(const struct world *world)
{
    struct client *first = NULL;
    uint64_t at = next_arrival;

    for (unsigned i = 0; i < world->clients; i++) {
        struct client *each = &clients[i];
        uint64_t time = each->arrives < each->due ? each->arrives : each->due;

        if (!each->there || time >= at)
            continue;
        first = each;
        at = time;
    }
    now = at;
    if (first == NULL)
        arrive(world);
    else if (first->due == now)
        serve(world, first);
    else
        request(world, first);
}

static struct net_probe_result run(const struct world *world, uint64_t seed)
{
    struct net_probe_result result = {0};

    unit_seed = seed;
    now = service_free = last_due = 0;
    next_arrival = world->kind == NET_PEER_CLOSED ? UINT64_MAX : 1;
    memset(clients, 0, sizeof clients);
    for (unsigned i = 0; i < world->clients; i++) {
        clients[i].there = world->kind == NET_PEER_CLOSED;
        clients[i].arrives = 1 + i;
        clients[i].left = world->session;
        clients[i].due = UINT64_MAX;
    }
    net_probe_begin(&probe, HZ, 0);
    while (now < LONG && !net_probe_ended(&probe, &result))
        step(world);
    assert_false(probe.on);
    return result;
}

static void is_found(const struct world *world)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct net_probe_result result = run(world, seed);

        assert_true(result.known);
        assert_int_equal(result.kind, world->kind);
    }
}

TEST(closed_loops_are_found)
{
    is_found(&(struct world){NET_PEER_CLOSED, 1, 20, 300, 0, 0});
    is_found(&(struct world){NET_PEER_CLOSED, 16, 50, 200, 0, 0});
    is_found(&(struct world){NET_PEER_CLOSED, 16, 50, 9000, 0, 0});
    is_found(&(struct world){NET_PEER_CLOSED, 8, 60, 200, 0, 4});
    is_found(&(struct world){NET_PEER_CLOSED, 100, 60, 2000, 0, 1});
    /* bound by the CPU, each request waits for 12 ms */
    is_found(&(struct world){NET_PEER_CLOSED, 240, 50, 200, 0, 0});
}

TEST(open_loops_are_found)
{
    is_found(&(struct world){NET_PEER_OPEN, 16, 60, 0, 150, 0});
    is_found(&(struct world){NET_PEER_OPEN, 4, 60, 0, 66, 0}); /* 91 % */
    is_found(&(struct world){NET_PEER_OPEN, 200, 60, 0, 2000, 0});
}

TEST(partly_open_ones_are_found)
{
    is_found(&(struct world){NET_PEER_PARTLY, 250, 60, 200, 1600, 8});
    is_found(&(struct world){NET_PEER_PARTLY, 250, 60, 2000, 900, 4});
    is_found(&(struct world){NET_PEER_PARTLY, 250, 60, 200, 500, 1});
}

TEST(too_little_traffic_says_nothing)
{
    const struct world world = {NET_PEER_OPEN, 16, 60, 0, 30000, 0};
    struct net_probe_result result = run(&world, 1);

    assert_false(result.known);
    assert_int_equal(result.kind, NET_PEER_CLOSED);
}
