/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WORLD_H
#define WORLD_H

/*
 * What programs on an event loop have around them: devices, peers, timers, and
 * a CPU that takes time. Included by simulation.h and machine.h, which define
 * struct world_event and struct world before.
 *
 * Durations are in cycles, of which a microsecond has US. They depend on what
 * is asked for, not on when: so a request takes as long in all runs.
 */

#include "random.h"

#include <math.h>
#include <prof/causal.h>
#include <stdlib.h>

#define US 1000.0
#define OUTSIDE_MAX 16384u
#define PEERS_MAX 64u
#define DEVICES_MAX 2u
#define WAITERS_MAX 256u
#define LATENCIES_MAX 65536u

struct sim;
struct event;
typedef void sim_handler(struct sim *sim, const struct event *event);

struct event {
    uint64_t arrival;
    uint64_t order;
    sim_handler *run;
    struct prof_agent *agent;    /* NULL: a timer */
    struct prof_request request; /* to a device */
    bool packet;                 /* of a peer */
    uint32_t peer, number;
    struct event *after; /* that arrives later */
    uint64_t due;        /* virtual time */
    uint64_t began;      /* of its request: virtual time, for a program */
    struct world_event world;
};

struct device {
    struct prof_agent agent;
    uint64_t busy_until[PROF_AGENT_SERVERS_MAX];
    uint32_t servers; /* 0: any number */
};

/* What a program does; all but its name may be NULL. */
struct program {
    const char *name;
    void (*start)(struct sim *sim);
    void (*end_of_turn)(struct sim *sim);
    bool (*background)(struct sim *sim); /* when there is nothing to do */
    sim_handler *request; /* of each peer, again when it was answered */
};

struct sim {
    const struct program *program;
    uint32_t parameter[8];
    uint32_t target;         /* the part that is faster */
    uint32_t shorter;        /* really: by so much, in 1/65,536 */
    uint32_t device_shorter; /* and what devices do; */
    uint32_t peer_shorter;   /* and peers */
    bool only_now; /* the naive rule: events are run when they arrive */
    struct device devices[DEVICES_MAX];
    struct prof_agent peers[PEERS_MAX];
    struct event *first, *last;         /* outside, of those sent in order */
    struct event *outside[OUTSIDE_MAX]; /* by arrival; a binary heap */
    uint32_t outsiders;                 /* in the heap */
    uint64_t order;
    uint64_t visits;
    double latency;                    /* of requests, in all */
    uint64_t warm_up;                  /* visits that do not count below */
    uint64_t latencies[LATENCIES_MAX]; /* of the others */
    /* of the program */
    uint32_t scratch;
    uint64_t schedule;
    struct event *waiting[WAITERS_MAX];
    uint32_t waiters;
    struct world world;
};

/* ---- what each world has of its own */

/* The time, from the program's begin on. */
static struct prof_moment sim_time(const struct sim *sim);

/* The same for agents, which do not count from there, */
static struct prof_moment sim_moment(const struct sim *sim);

/* and the time of its begin. */
static struct prof_moment sim_begin(const struct sim *sim);

/* Whether agents are asked, as they are in experiments only. */
static bool sim_has_agents(void);

/* The part (part) of the program takes (cycles). */
static void sim_compute(struct sim *sim, uint32_t part, uint64_t cycles);

/* An event to be passed to one of the calls below, which own it then. */
static struct event *sim_event(struct sim *sim, sim_handler *run, uint32_t peer,
                               uint32_t number, uint64_t began);

/* Frees one that is not to be run. */
static void sim_drop(struct event *event);

/* Runs (event) at the virtual time (due). */
static void sim_timer_at(struct sim *sim, uint64_t due, struct event *event);

/* Counts a visit: a request is done that began at (began). */
static void sim_visited(struct sim *sim, uint64_t began);

/* A program's first requests, where it has no start() (programs.h). */
static void sim_first_requests(struct sim *sim);

/* ---- random durations */

static inline uint64_t sim_about(double us, uint32_t what, uint32_t peer,
                                 uint32_t number)
{
    return (uint64_t)(us * US * (0.5 + sim_uniform(what, peer, number)));
}

static inline uint64_t sim_exponential(double us, uint32_t what, uint32_t peer,
                                       uint32_t number)
{
    return (uint64_t)(-us * US * log(sim_uniform(what, peer, number)));
}

/* ---- what is on its way from outside */

static inline bool sim_before(const struct event *a, const struct event *b)
{
    return a->arrival != b->arrival ? a->arrival < b->arrival
                                    : a->order < b->order;
}

/* What is sent in the order of its arrival, as all of an open loop is, is in a
 * list: it costs the CPU the same however much of it there is. */
static inline bool sim_append(struct sim *sim, struct event *event)
{
    event->after = NULL;
    if (sim->first == NULL)
        sim->first = event;
    else if (sim_before(sim->last, event))
        sim->last->after = event;
    else
        return false;
    sim->last = event;
    return true;
}

static inline void sim_send(struct sim *sim, struct event *event)
{
    uint32_t at;

    event->order = sim->order++;
    if (sim_append(sim, event))
        return;
    at = sim->outsiders++;
    if (at == OUTSIDE_MAX)
        abort();
    while (at != 0 && sim_before(event, sim->outside[(at - 1) / 2])) {
        sim->outside[at] = sim->outside[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    sim->outside[at] = event;
}

/* The one that arrives first; NULL: there is none. */
static inline struct event *sim_first(const struct sim *sim)
{
    if (sim->outsiders == 0)
        return sim->first;
    return sim->first != NULL && sim_before(sim->first, sim->outside[0])
               ? sim->first
               : sim->outside[0];
}

/* Removes it. */
static inline struct event *sim_arrived(struct sim *sim)
{
    struct event *first = sim_first(sim), *last;
    uint32_t at = 0, child;

    if (first == sim->first) {
        sim->first = first->after;
        return first;
    }
    last = sim->outside[--sim->outsiders];
    while ((child = 2 * at + 1) < sim->outsiders) {
        if (child + 1 < sim->outsiders &&
            sim_before(sim->outside[child + 1], sim->outside[child]))
            child++;
        if (!sim_before(sim->outside[child], last))
            break;
        sim->outside[at] = sim->outside[child];
        at = child;
    }
    sim->outside[at] = last;
    return first;
}

/* When (event), which has arrived, is due; (now) is the virtual time of its
 * arrival. */
static inline uint64_t sim_due(struct sim *sim, struct event *event,
                               uint64_t now)
{
    const struct prof_moment begin = sim_begin(sim);
    uint64_t arrival = begin.real + event->arrival;
    uint64_t due;

    if (!sim_has_agents())
        return now;
    due =
        event->packet
            ? prof_agent_packet(event->agent, arrival, begin.virtual_time + now)
            : prof_agent_answer(event->agent, &event->request, arrival);
    if (!sim->only_now)
        return due - begin.virtual_time;
    /* it may have arrived before the delay began to grow */
    return (int64_t)now < 0 ? 0 : now;
}

/* ---- what a program calls */

static inline uint64_t sim_virtual(const struct sim *sim)
{
    return sim_time(sim).virtual_time;
}

/* Asks a device for something that takes (cycles). */
static inline void sim_request(struct sim *sim, uint32_t device,
                               uint64_t cycles, struct event *event)
{
    struct device *of = &sim->devices[device];
    const struct prof_moment now = sim_moment(sim);
    const uint64_t real = now.real - sim_begin(sim).real;
    uint64_t *server = NULL;

    cycles -= cycles * sim->device_shorter / PROF_ONE;
    event->agent = &of->agent;
    event->packet = false;
    if (sim_has_agents())
        prof_agent_submit(event->agent, &event->request, now);
    event->arrival = real + cycles;
    for (uint32_t i = 0; i < of->servers; i++)
        if (server == NULL || of->busy_until[i] < *server)
            server = &of->busy_until[i];
    if (server != NULL) {
        if (*server > real)
            event->arrival = *server + cycles;
        *server = event->arrival;
    }
    sim_send(sim, event);
}

/* A peer sends (event) at (arrival), whatever we do. */
static inline void sim_send_at(struct sim *sim, uint64_t arrival,
                               struct event *event)
{
    event->agent = &sim->peers[event->peer];
    event->packet = true;
    event->arrival = arrival;
    sim_send(sim, event);
}

/* Answers a peer, which sends (event) (cycles) later. */
static inline void sim_reply(struct sim *sim, uint64_t cycles,
                             struct event *event)
{
    const struct prof_moment now = sim_moment(sim);

    cycles -= cycles * sim->peer_shorter / PROF_ONE;
    if (sim_has_agents())
        prof_agent_sent(&sim->peers[event->peer], now);
    sim_send_at(sim, now.real - sim_begin(sim).real + cycles, event);
}

/* The request that began at (began) is done. */
static inline void sim_visit(struct sim *sim, uint64_t began)
{
    uint64_t took = sim_virtual(sim) - began;

    if (sim->visits >= sim->warm_up &&
        sim->visits < sim->warm_up + LATENCIES_MAX)
        sim->latencies[sim->visits - sim->warm_up] = took;
    sim->visits++;
    sim->latency += (double)took;
    sim_visited(sim, began);
}

static inline int sim_in_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* (permille) of the (count) latencies are below that. They are sorted. */
static inline double sim_quantile(struct sim *sim, uint64_t count,
                                  uint32_t permille)
{
    qsort(sim->latencies, count, sizeof(uint64_t), sim_in_order);
    return (double)sim->latencies[(count - 1) * permille / 1000];
}

static inline void sim_init(struct sim *sim, const struct program *program,
                            const uint32_t parameter[8])
{
    sim->program = program;
    for (unsigned i = 0; i < 8; i++)
        sim->parameter[i] = parameter[i];
    for (unsigned i = 0; i < PEERS_MAX; i++)
        prof_agent_init(&sim->peers[i], PROF_AGENT_CLOSED, 0);
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        prof_agent_init(&sim->devices[i].agent, PROF_AGENT_PARALLEL, 0);
    if (program->start != NULL)
        program->start(sim);
    else
        sim_first_requests(sim);
}

#endif
