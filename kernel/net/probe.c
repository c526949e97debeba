/* SPDX-License-Identifier: Apache-2.0 */

#include "probe.h"

#define HOLDS_A_SECOND 50u /* 20 ms: more than answers usually take */
#define HALF 5u            /* of a round, in holds: the first is not counted */
#define ROUNDS_MIN 2u
#define ROUNDS_MAX 50u /* 10 s */
/* Not held. Of an open loop twice as many differ by 5 and by 12 % at random,
 * which is a fifth, and a third, of the distance to a closed one. */
#define REQUESTS_ENOUGH 800u
#define REQUESTS_MIN 300u
#define SLOWER 3u / 4u
#define CONNECTIONS_ENOUGH 400u
#define CONNECTIONS_MIN 150u
#define CONNECTIONS_SLOWER 3u / 5u
#define CONNECTIONS_PART 64u /* one for fewer requests than that matters */
#define EARLY_PART 8u        /* and of requests one of so many */

void net_probe_begin(struct net_probe *probe, uint64_t tsc_hz, uint64_t now)
{
    *probe = (struct net_probe){
        .on = true, .hold = tsc_hz / HOLDS_A_SECOND, .begin = now};
}

/* Of a round, each half begins with a time in which the one before it still
 * shows. */
static bool counts(const struct net_probe *probe, uint64_t now)
{
    return now - probe->begin >= probe->hold;
}

static void count(struct net_probe *probe, enum net_probe_event event)
{
    bool request = event == NET_PROBE_REQUEST || event == NET_PROBE_EARLY;
    bool connection = event == NET_PROBE_CONNECTION;

    if (!probe->holds) {
        probe->requests += request;
        probe->connections += connection;
        return;
    }
    probe->requests_held += request;
    probe->connections_held += connection;
    probe->early += event == NET_PROBE_EARLY;
}

/* After a long pause another half begins now, and none of those between. */
static void go_on(struct net_probe *probe, uint64_t now)
{
    const uint64_t half = probe->hold * HALF;

    if (now - probe->begin < half)
        return;
    probe->begin = now - probe->begin < 2 * half ? probe->begin + half : now;
    probe->rounds += probe->holds;
    probe->holds = !probe->holds;
}

uint64_t net_probe_hold(struct net_probe *probe, enum net_probe_event event,
                        uint64_t now, uint64_t due)
{
    if (probe->on) {
        go_on(probe, now);
        if (counts(probe, now))
            count(probe, event);
    }
    if (probe->on && probe->holds)
        due += probe->hold;
    if (due < probe->last)
        return probe->last;
    if (probe->on && probe->holds)
        probe->last = due;
    return due;
}

/* True if per-connection serialisation is evident: the requests of a
 * connection wait for each other even if it was opened by itself. */
static bool by_connections(const struct net_probe *probe)
{
    return probe->connections > probe->requests / CONNECTIONS_PART;
}

static bool has(const struct net_probe *probe, uint32_t requests,
                uint32_t connections)
{
    return probe->requests >= requests &&
           (!by_connections(probe) || probe->connections >= connections);
}

static enum net_peer_kind kind_of(const struct net_probe *probe)
{
    if (!by_connections(probe))
        return probe->requests_held < probe->requests * SLOWER ? NET_PEER_CLOSED
                                                               : NET_PEER_OPEN;
    if (probe->connections_held < probe->connections * CONNECTIONS_SLOWER)
        return NET_PEER_CLOSED;
    return probe->early < probe->requests_held / EARLY_PART ? NET_PEER_PARTLY
                                                            : NET_PEER_OPEN;
}

static uint32_t per_cent(uint32_t part, uint32_t all)
{
    return (uint32_t)((uint64_t)part * 100 / all);
}

bool net_probe_ended(struct net_probe *probe, struct net_probe_result *result)
{
    if (!probe->on || probe->rounds < ROUNDS_MIN ||
        (!has(probe, REQUESTS_ENOUGH, CONNECTIONS_ENOUGH) &&
         probe->rounds < ROUNDS_MAX))
        return false;
    probe->on = false;
    *result = (struct net_probe_result){.kind = NET_PEER_CLOSED};
    if (!has(probe, REQUESTS_MIN, CONNECTIONS_MIN))
        return true;
    result->known = true;
    result->kind = kind_of(probe);
    result->per_cent =
        by_connections(probe)
            ? per_cent(probe->connections_held, probe->connections)
            : per_cent(probe->requests_held, probe->requests);
    return true;
}
