/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When answers from outside are due on the virtual clock. The rules follow from
 * an induction over events: if all that a program reads is as it would be at
 * the speed-up, so is what it does next, on that clock.
 */

#include "causal/causal.h"
#include "causal/fast_path.h"
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
static uint32_t source_of(struct prof_agent *agent, enum prof_limit kind)
{
    if (agent->source != 0)
        return agent->source;
    if (prof_causal.names == NULL)
        return kind;
    agent->source =
        agent->name != NULL ? prof_waited_source(kind, agent->name) : kind;
    if (agent->target == NULL && (agent->kind == PROF_AGENT_PARALLEL ||
                                  agent->kind == PROF_AGENT_CLOSED))
        agent->direct = agent->source;
    return agent->source;
}

/* An answer has arrived, and is due at (time). While nothing is faster, nothing
 * is due later than it arrives, unless the agent is of another kind. That can
 * be seen if nothing has been faster since the (cause), real time, but for what
 * the profiler itself has taken. */
__attribute__((noinline)) static void
check_answer(const struct prof_agent *agent, uint64_t time, uint64_t arrived)
{
    if (!prof_causal.checks)
        return;
    prof_causal.sums.checked++;
    if (agent->assumption != NULL)
        agent->assumption->checked++;
    if (time > arrived - prof_causal_saved() - prof_causal.normal_own)
        count_contradiction(agent);
}

static void count_answer(const struct prof_agent *agent, uint32_t source,
                         uint64_t cause, uint64_t time, uint64_t arrived)
{
    prof_causal.sums.answers++;
    prof_causal.held.origin = source;
    if (cause >= prof_causal.normal)
        check_answer(agent, time, arrived);
}

/* ---- agents that are targets */

void prof_agent_target(struct prof_agent *agent, struct prof_target *target)
{
    target->outside = true;
    agent->target = target;
    agent->direct = 0;
}

/* With interrupts off. */
__attribute__((noinline)) static void begins(const struct prof_agent *agent)
{
    if (prof_causal_on())
        prof_causal_enter_last(agent->target);
}

static inline void ends(const struct prof_agent *agent, uint64_t arrived)
{
    if (agent->target != NULL)
        prof_causal_leave_at(agent->target, arrived, 0);
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
__attribute__((noinline)) static void queue(struct prof_agent *agent,
                                            struct prof_request *request)
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

/* To any agent. */
void prof_agent_submit_any(struct prof_agent *agent,
                           struct prof_request *request)
{
    struct prof_own_brief brief = prof_own_brief_open();

    request->next = NULL;
    request->begin = 0;
    if (agent->target != NULL)
        begins(agent);
    if (agent->kind == PROF_AGENT_SERVERS)
        queue(agent, request);
    prof_own_brief_close(brief);
    prof_shares_doorbell();
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

/* Any answer. */
uint64_t prof_agent_any_answer(struct prof_agent *agent,
                               struct prof_request *request, uint64_t arrived)
{
    struct prof_own_brief brief = prof_own_brief_open();
    uint64_t time;

    if (agent->kind == PROF_AGENT_SERVERS)
        time = served(agent, request, arrived);
    else
        time = request->cause.virtual_time +
               taken(agent, arrived - request->cause.real);
    ends(agent, arrived);
    count_answer(agent, source_of(agent, PROF_LIMIT_DEVICE),
                 request->cause.real, time, arrived);
    prof_own_brief_close(brief);
    return time;
}

/* ---- peers */

/* To any peer. */
void prof_agent_sent_any(struct prof_agent *agent, struct prof_moment sent)
{
    struct prof_own_brief brief = prof_own_brief_open();

    if (agent->kind == PROF_AGENT_CLOSED) {
        bool again = agent->asked;

        prof_agent_note_sent(agent, sent);
        if (agent->target != NULL && !again)
            begins(agent);
    }
    prof_own_brief_close(brief);
    prof_shares_doorbell();
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

/* Any packet. */
uint64_t prof_agent_any_packet(struct prof_agent *agent, uint64_t arrived,
                               uint64_t now)
{
    struct prof_own_brief brief = prof_own_brief_open();
    const bool is_open = agent->kind == PROF_AGENT_OPEN;
    struct prof_moment cause = agent->last;
    uint64_t time = now, at = arrived;

    if (is_open) { /* its packets keep their intervals, since a release */
        at -= prof_causal.left_out;
        prof_causal.open = true;
        if (agent->epoch != prof_causal.epoch)
            cause.real = 0;
        agent->epoch = prof_causal.epoch;
    } else {
        any_cause_of(agent, arrived, &cause);
    }
    if (cause.real != 0)
        time = cause.virtual_time + taken(agent, at - cause.real);
    if (agent->asked)
        ends(agent, arrived);
    agent->last = (struct prof_moment){at, time};
    count_answer(
        agent,
        source_of(agent, is_open ? PROF_LIMIT_ARRIVALS : PROF_LIMIT_PEER),
        cause.real, time, arrived);
    agent->asked = false;
    prof_own_brief_close(brief);
    return time;
}
