/* SPDX-License-Identifier: Apache-2.0 */

#include "agents.h"

#include "flow.h"
#include "net.h"
#include "rules.h"

#include <prof/causal.h>

#define BUCKETS 512u

/* A connection, or after its end a client that may open another. */
struct client {
    struct net_flow flow;
    struct prof_agent agent; /* CLOSED */
    struct client *same;     /* of the same hash */
    struct client *queued;   /* the next that a frame is queued for */
    struct client *waits;    /* the next that may open another connection */
    bool is_queued, is_waiting;
    bool asked;              /* it has sent bytes */
    bool waits_for_us;       /* the same, and we have not since */
    bool we_ended, they_did; /* FIN or RST */
};

static struct client *buckets[BUCKETS];
static struct client *queued;
static struct client *waiting, **waiting_end = &waiting;
static uint32_t known;

uint32_t net_agents_known(void)
{
    return known;
}

/* ---- the table */

static struct client **bucket_of(const struct net_flow *flow)
{
    uint32_t ports = (uint32_t)flow->port << 16 | flow->own;
    uint32_t hash = (ports ^ flow->ip ^ flow->protocol) * 0x9e3779b1u;

    return &buckets[hash >> 23];
}

static bool same(const struct net_flow *a, const struct net_flow *b)
{
    return a->ip == b->ip && a->port == b->port && a->own == b->own &&
           a->protocol == b->protocol;
}

static struct client *find_client(const struct net_flow *flow)
{
    struct client *each = *bucket_of(flow);

    while (each != NULL && !same(&each->flow, flow))
        each = each->same;
    return each;
}

static void insert_client(struct client *client, const struct net_flow *flow)
{
    struct client **bucket = bucket_of(flow);

    client->flow = *flow;
    client->same = *bucket;
    *bucket = client;
}

static void remove_client(struct client *client)
{
    struct client **link = bucket_of(&client->flow);

    while (*link != client)
        link = &(*link)->same;
    *link = client->same;
}

/* ---- clients between two connections */

static void wait(struct client *client)
{
    if (client->is_waiting)
        return;
    client->is_waiting = true;
    client->waits = NULL;
    *waiting_end = client;
    waiting_end = &client->waits;
}

static struct client *take_waiting(struct client **link)
{
    struct client *found = *link;

    if (found == NULL)
        return NULL;
    *link = found->waits;
    if (waiting_end == &found->waits)
        waiting_end = link;
    found->is_waiting = false;
    return found;
}

/* The one that has waited longest, of the peer of (flow). Most clients connect
 * again when both sides have ended, but some when only they have. */
static struct client *next_waiting(const struct net_flow *flow)
{
    struct client **link = &waiting, **half = NULL;

    for (; *link != NULL; link = &(*link)->waits) {
        const struct client *each = *link;

        if (each->flow.ip != flow->ip || each->flow.own != flow->own)
            continue;
        if (each->we_ended && each->they_did)
            return take_waiting(link);
        if (half == NULL)
            half = link;
    }
    return half != NULL ? take_waiting(half) : NULL;
}

/* What it did in its last connection does not count any more. */
static void begin_again(struct client *client)
{
    client->asked = client->we_ended = client->they_did = false;
    client->waits_for_us = false;
}

static struct client *new_client(const struct net_flow *flow)
{
    struct client *client = NULL;

    if (known < NET_AGENTS_MAX)
        client = net_port_alloc_zeroed(1, sizeof *client);
    if (client != NULL)
        known++;
    else if ((client = take_waiting(&waiting)) != NULL)
        remove_client(client);
    else
        return NULL;
    begin_again(client);
    prof_agent_init(&client->agent, PROF_AGENT_CLOSED, 0);
    prof_agent_assume(&client->agent,
                      &net_rule_of(flow->own, flow->port)->assumption);
    prof_agent_name(&client->agent, net_rule_of(flow->own, flow->port)->peers);
    insert_client(client, flow);
    return client;
}

/* Whose connection it is; NULL: no room, or none that goes on. */
static struct client *client_of(const struct net_flow *flow, bool reconnects)
{
    struct client *client = find_client(flow);
    bool first = flow->begins && (client == NULL || client->is_waiting);

    if (first && reconnects) {
        struct client *again = next_waiting(flow);

        if (again != NULL) {
            remove_client(again);
            insert_client(again, flow);
            begin_again(again);
            return again;
        }
    }
    /* The last frames of a connection may come when its client has another.
     * What they made would be taken for a client that thinks since then when
     * its port is used again. */
    return client != NULL || (!flow->begins && !flow->data) ? client
                                                            : new_client(flow);
}

/* ---- what we send */

void net_agents_queued(const uint8_t *frame, size_t bytes)
{
    struct net_flow flow;
    struct client *client;

    if (!net_flow_read(frame, bytes, true, &flow))
        return;
    client = client_of(&flow, false);
    if (client == NULL)
        return;
    if (client->they_did && !flow.data && !flow.begins && !flow.ends)
        return; /* nothing waits for what acknowledges its end */
    client->waits_for_us = client->waits_for_us && !flow.data;
    client->we_ended = client->we_ended || flow.ends;
    client->they_did = client->they_did || flow.resets;
    if (flow.resets)
        wait(client);
    if (client->is_queued)
        return;
    client->is_queued = true;
    client->queued = queued;
    queued = client;
}

void net_agents_sent(void)
{
    const struct prof_moment now = prof_causal_now();

    while (queued != NULL) {
        struct client *client = queued;

        queued = client->queued;
        client->is_queued = false;
        prof_agent_sent(&client->agent, now);
    }
}

/* ---- what they send */

/* Virtual time at (arrived), which is not long ago. */
static uint64_t virtual_at(uint64_t arrived)
{
    const struct prof_moment now = prof_causal_now();

    return arrived < now.real ? now.virtual_time - (now.real - arrived)
                              : now.virtual_time;
}

/* Whether a packet comes at a time of the peer's own choice. */
static bool is_arrival(enum net_peer_kind kind, const struct net_flow *flow,
                       const struct client *client)
{
    switch (kind) {
    case NET_PEER_OPEN:
        return flow->begins ||
               (flow->data && (client == NULL || client->asked ||
                               flow->protocol == NET_FLOW_UDP));
    case NET_PEER_PARTLY:
        return flow->begins;
    case NET_PEER_CLOSED:
        break;
    }
    return false;
}

/* Of a trial. */
static enum net_probe_event event_of(const struct net_flow *flow,
                                     const struct client *client)
{
    if (flow->begins)
        return NET_PROBE_CONNECTION;
    if (!flow->data)
        return NET_PROBE_OTHER;
    return client != NULL && client->waits_for_us ? NET_PROBE_EARLY
                                                  : NET_PROBE_REQUEST;
}

uint64_t net_agents_due(const uint8_t *frame, size_t bytes, uint64_t arrived)
{
    struct net_flow flow;
    struct net_rule *rule;
    struct client *client;
    bool arrival;
    uint64_t now = virtual_at(arrived), due = now;

    if (!net_flow_read(frame, bytes, false, &flow))
        return now;
    rule = net_rule_of(flow.own, flow.port);
    client = client_of(&flow, rule->kind == NET_PEER_CLOSED);
    arrival = is_arrival(rule->kind, &flow, client);
    if (arrival)
        due = prof_agent_packet(&rule->arrivals, arrived, now);
    if (client != NULL && !arrival)
        due = prof_agent_packet(&client->agent, arrived, now);
    if (rule->probed)
        due =
            net_probe_hold(&rule->probe, event_of(&flow, client), arrived, due);
    if (client == NULL)
        return due;
    client->asked = client->asked || flow.data;
    client->waits_for_us = client->waits_for_us || flow.data;
    if (!flow.ends)
        return due;
    client->they_did = true;
    client->we_ended = client->we_ended || flow.resets;
    wait(client);
    return due;
}

void net_agents_forget(void)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        while (buckets[i] != NULL) {
            struct client *client = buckets[i];

            buckets[i] = client->same;
            net_port_free(client);
        }
    queued = waiting = NULL;
    waiting_end = &waiting;
    known = 0;
    net_rules_forget();
}
