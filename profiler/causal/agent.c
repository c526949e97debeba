/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When answers from outside are due on the virtual clock. The rules follow from
 * an induction over events: if all that a program reads is as it would be at
 * the speed-up, so is what it does next, on that clock.
 */

#include "causal/causal.h"
#include "causal/own.h"
#include "causal/shares.h"
#include "causal/waited.h"

#include "base/cpu.h"

#include <stddef.h>

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void prof_agent_init(struct prof_agent *agent, enum prof_agent_kind kind,
                     uint32_t servers)
{
    *agent = (struct prof_agent){.kind = kind};
    if (kind != PROF_AGENT_SERVERS)
        return;
    agent->of.queue.servers =
        servers < PROF_AGENT_SERVERS_MAX ? servers : PROF_AGENT_SERVERS_MAX;
    if (agent->of.queue.servers == 0)
        agent->of.queue.servers = 1;
}

/* ---- what answers check */

void prof_causal_assume(struct prof_assumption *assumption)
{
    struct prof_assumption **end = &prof_causal.assumptions;

    if (assumption->added)
        return;
    assumption->added = true;
    assumption->next = NULL;
    while (*end != NULL)
        end = &(*end)->next;
    *end = assumption;
}

static void count_contradiction(const struct prof_agent *agent)
{
    prof_causal.sums.contradictions++;
    if (agent->assumption != NULL)
        agent->assumption->contradictions++;
}

/* Before the first experiments there are no names. */
static __attribute__((noinline)) uint32_t find_source(struct prof_agent *agent,
                                                      enum prof_limit kind)
{
    if (prof_causal.names == NULL)
        return kind;
    agent->source =
        agent->name != NULL ? prof_waited_source(kind, agent->name) : kind;
    return agent->source;
}

/* An answer to (cause) has arrived, and is due at (time). While nothing is
 * faster, nothing is due later than it arrives, unless the agent is of another
 * kind. That can be seen if nothing has been faster since the cause, but for
 * what the profiler itself has taken. */
static inline void count_answer(struct prof_agent *agent,
                                enum prof_limit origin,
                                const struct prof_moment *cause, uint64_t time,
                                uint64_t arrived)
{
    const struct prof_virtual_clock *clock = &prof_causal.clock;

    prof_causal.sums.answers++;
    prof_causal.held.origin = __builtin_expect(agent->source != 0, 1)
                                  ? agent->source
                                  : find_source(agent, origin);
    if (!(prof_causal.experiments.counts || prof_causal.experiments.fixed) ||
        clock->speedup != 0 || cause->real < prof_causal.normal)
        return;
    prof_causal.sums.checked++;
    if (agent->assumption != NULL)
        agent->assumption->checked++;
    if (time >
        arrived - clock->delay + prof_causal.own - prof_causal.normal_own)
        count_contradiction(agent);
}

/* ---- agents that are targets */

void prof_agent_target(struct prof_agent *agent, struct prof_target *target)
{
    target->outside = true;
    agent->target = target;
}

static void begins(const struct prof_agent *agent)
{
    if (agent->target != NULL && prof_causal_on())
        prof_causal_enter_last(agent->target);
}

static void ends(const struct prof_agent *agent, uint64_t arrived)
{
    bool on;

    if (agent->target == NULL)
        return;
    on = prof_interrupts_save();
    prof_causal_leave_at(agent->target, arrived, 0);
    prof_interrupts_restore(on);
}

/* How long (cycles) of its work take by virtual time. */
static uint64_t taken(const struct prof_agent *agent, uint64_t cycles)
{
    if (agent->target == NULL || !prof_causal_on() ||
        !prof_causal_chosen(agent->target))
        return cycles;
    return cycles - prof_virtual_saved(&prof_causal.clock, cycles);
}

/* ---- devices */

static void serve(struct prof_agent *agent, uint32_t server,
                  struct prof_request *request, uint64_t now)
{
    agent->of.queue.server[server].busy = true;
    request->server = server;
    request->begin = now;
}

/* Of those that are free, the one that has been so for longest by virtual time
 * takes the request. */
static void queue(struct prof_agent *agent, struct prof_request *request)
{
    struct prof_server *servers = agent->of.queue.server;
    uint32_t none = agent->of.queue.servers, best = none;

    for (uint32_t i = 0; i < none; i++)
        if (!servers[i].busy &&
            (best == none || servers[i].free < servers[best].free))
            best = i;
    if (best != none) {
        serve(agent, best, request, request->cause.real);
        return;
    }
    if (agent->of.queue.first == NULL)
        agent->of.queue.first = request;
    else
        agent->of.queue.newest->next = request;
    agent->of.queue.newest = request;
}

void prof_agent_submit(struct prof_agent *agent, struct prof_request *request,
                       struct prof_moment now)
{
    struct prof_own_guard guard = prof_own_open();

    *request = (struct prof_request){.cause = now};
    if (prof_shares_on)
        prof_shares_doorbell();
    begins(agent);
    if (agent->kind == PROF_AGENT_SERVERS)
        queue(agent, request);
    prof_own_close(&guard);
}

/* The device does not answer in order: (request) was served, so take it out
 * of the queue, and whatever was in service longest was not. */
static void leave_queue(struct prof_agent *agent, struct prof_request *request)
{
    struct prof_request **link = &agent->of.queue.first;
    struct prof_request *before = NULL;

    while (*link != NULL && *link != request) {
        before = *link;
        link = &before->next;
    }
    if (*link == NULL)
        return;
    *link = request->next;
    if (agent->of.queue.newest == request)
        agent->of.queue.newest = before;
}

static uint64_t served(struct prof_agent *agent, struct prof_request *request,
                       uint64_t arrived)
{
    struct prof_server *server = &agent->of.queue.server[request->server];
    struct prof_request *next;

    if (request->begin == 0) {
        count_contradiction(agent);
        leave_queue(agent, request);
        return request->cause.virtual_time + (arrived - request->cause.real);
    }
    server->free = later(request->cause.virtual_time, server->free) +
                   taken(agent, arrived - request->begin);
    server->busy = false;
    next = agent->of.queue.first;
    if (next != NULL) {
        agent->of.queue.first = next->next;
        serve(agent, request->server, next, later(arrived, next->cause.real));
    }
    return server->free;
}

uint64_t prof_agent_answer(struct prof_agent *agent,
                           struct prof_request *request, uint64_t arrived)
{
    struct prof_own_guard guard = prof_own_open();
    uint64_t time;

    if (agent->kind == PROF_AGENT_SERVERS)
        time = served(agent, request, arrived);
    else
        time = request->cause.virtual_time +
               taken(agent, arrived - request->cause.real);
    ends(agent, arrived);
    count_answer(agent, PROF_LIMIT_DEVICE, &request->cause, time, arrived);
    prof_own_close(&guard);
    return time;
}

/* ---- peers */

void prof_agent_sent(struct prof_agent *agent, struct prof_moment sent)
{
    struct prof_own_guard guard = prof_own_open();

    if (prof_shares_on)
        prof_shares_doorbell();
    if (agent->kind == PROF_AGENT_CLOSED) {
        agent->of.sent.newest =
            (agent->of.sent.newest - 1) % PROF_AGENT_SENT_MAX;
        agent->of.sent.at[agent->of.sent.newest] = sent;
        if (!agent->asked)
            begins(agent);
        agent->asked = true;
    }
    prof_own_close(&guard);
}

/* What caused a packet of a closed peer: the last packet to it, unless it has
 * sent one since. (cause) is that. */
static void any_cause_of(const struct prof_agent *agent, uint64_t arrived,
                         struct prof_moment *cause)
{
    for (unsigned i = 0; i < PROF_AGENT_SENT_MAX; i++) {
        uint32_t at = (agent->of.sent.newest + i) % PROF_AGENT_SENT_MAX;
        const struct prof_moment *sent = &agent->of.sent.at[at];

        if (sent->real == 0 || sent->real > arrived)
            continue;
        if (sent->real >= cause->real) {
            cause->real = sent->real;
            cause->virtual_time =
                later(cause->virtual_time, sent->virtual_time);
        }
        break;
    }
}

/* The fast path, for the usual cause: our last packet. (other) is the peer's
 * last one, and becomes any other cause. */
static inline const struct prof_moment *cause_of(const struct prof_agent *agent,
                                                 uint64_t arrived,
                                                 struct prof_moment *other)
{
    const struct prof_moment *sent = &agent->of.sent.at[agent->of.sent.newest];

    if (sent->real <= arrived && sent->real >= agent->last.real &&
        sent->virtual_time >= agent->last.virtual_time)
        return sent;
    any_cause_of(agent, arrived, other);
    return other;
}

uint64_t prof_agent_packet(struct prof_agent *agent, uint64_t arrived,
                           uint64_t now)
{
    struct prof_own_guard guard = prof_own_open();
    const bool is_open = agent->kind == PROF_AGENT_OPEN;
    struct prof_moment other = agent->last;
    const struct prof_moment *cause = &other;
    uint64_t time = now, at = arrived;

    if (is_open) { /* its packets keep their intervals, since a release */
        at -= prof_causal.left_out;
        prof_causal.open = true;
        if (agent->epoch != prof_causal.epoch)
            other.real = 0;
        agent->epoch = prof_causal.epoch;
    } else {
        cause = cause_of(agent, arrived, &other);
    }
    if (cause->real != 0)
        time = cause->virtual_time + taken(agent, at - cause->real);
    if (agent->asked)
        ends(agent, arrived);
    agent->asked = false;
    agent->last = (struct prof_moment){at, time};
    count_answer(agent, is_open ? PROF_LIMIT_ARRIVALS : PROF_LIMIT_PEER, cause,
                 time, arrived);
    prof_own_close(&guard);
    return time;
}
