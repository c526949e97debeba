/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

/*
 * Programs whose speed depends on one of their parts in different ways. Each
 * has a part F; what else they compute has other numbers. Durations are in
 * microseconds: of the parts F, G and H, of a round trip to a peer, and of the
 * disk. The world that they run in, simulated (simulation.h) or a guest
 * (machine.h), is included before this.
 */

#include <string.h>

enum part { F = 1, G, H, KICK, SLICE, FLUSH };

/* A program's parameters; the last is which part is the target, 0: F. */
enum { PEERS, OF_F, OF_G, OF_H, ROUND_TRIP, DISK, SERVERS, PART };

static inline void sim_part(struct sim *sim, enum part part,
                            const struct event *event)
{
    sim_compute(
        sim, part,
        sim_about(sim->parameter[part], part, event->peer, event->number));
}

/* What comes of (event), for a request that began at (began). */
static inline struct event *sim_after(struct sim *sim, sim_handler *run,
                                      const struct event *event, uint64_t began)
{
    return sim_event(sim, run, event->peer, event->number, began);
}

typedef uint64_t sim_random(double us, uint32_t what, uint32_t peer,
                            uint32_t number);

/* Asks the disk, which takes a (random) time. */
static inline void sim_ask(struct sim *sim, const struct event *event,
                           sim_random *random, struct event *answer)
{
    sim_request(sim, 0,
                random(sim->parameter[DISK], 11, event->peer, event->number),
                answer);
}

static inline void sim_send_request(struct sim *sim, uint32_t peer,
                                    uint32_t number)
{
    sim_reply(sim, sim_about(sim->parameter[ROUND_TRIP], 10, peer, number),
              sim_event(sim, sim->program->request, peer, number, 0));
}

/* The request of (event) is done, and its peer sends the next one. */
static inline void sim_next(struct sim *sim, const struct event *event,
                            uint64_t began)
{
    sim_visit(sim, began);
    sim_send_request(sim, event->peer, event->number + 1);
}

static inline void sim_first_requests(struct sim *sim)
{
    for (uint32_t peer = 0; peer < sim->parameter[PEERS]; peer++)
        sim_send_request(sim, peer, 0);
    sim->devices[0].servers = sim->parameter[SERVERS];
    if (sim->parameter[SERVERS] != 0)
        prof_agent_init(&sim->devices[0].agent, PROF_AGENT_SERVERS,
                        sim->parameter[SERVERS]);
}

static inline void sim_wait(struct sim *sim, struct event *event)
{
    sim->waiting[sim->waiters++] = event;
}

/* All that waits is done, in a turn. */
static inline void sim_flush(struct sim *sim)
{
    uint32_t count = sim->waiters;
    struct event *batch[WAITERS_MAX];

    sim->waiters = 0;
    memcpy(batch, sim->waiting, count * sizeof *batch);
    sim_compute(sim, FLUSH, (uint64_t)(10 * US));
    for (uint32_t i = 0; i < count; i++) {
        sim_part(sim, H, batch[i]);
        sim_next(sim, batch[i], batch[i]->began);
        sim_drop(batch[i]);
    }
}

/* ---- a closed loop that needs nothing but the CPU */

static void closed_request(struct sim *sim, const struct event *event)
{
    sim_part(sim, F, event);
    sim_part(sim, G, event);
    sim_part(sim, H, event);
    sim_next(sim, event, event->due);
}

/* The same, with other work while there is nothing to do. */
static bool slice_of_work(struct sim *sim)
{
    sim_compute(sim, SLICE, (uint64_t)(15 * US));
    return true;
}

/* ---- request, F, disk, G, H, reply */

static void disk_done(struct sim *sim, const struct event *event)
{
    sim_part(sim, G, event);
    sim_part(sim, H, event);
    sim_next(sim, event, event->began);
}

static void disk_request(struct sim *sim, const struct event *event)
{
    sim_part(sim, F, event);
    sim_ask(sim, event, sim_exponential,
            sim_after(sim, disk_done, event, event->due));
}

/* ---- pipeline: parse F, disk, decode G, a timer that batches, send H */

static void pipe_flush(struct sim *sim, const struct event *unused)
{
    (void)unused;
    sim_flush(sim);
}

static void pipe_done(struct sim *sim, const struct event *event)
{
    sim_part(sim, G, event);
    if (sim->waiters == 0)
        sim_timer_at(sim, sim_virtual(sim) + (uint64_t)(100 * US),
                     sim_event(sim, pipe_flush, 0, 0, 0));
    sim_wait(sim, sim_after(sim, pipe_flush, event, event->began));
}

static void pipe_request(struct sim *sim, const struct event *event)
{
    sim_part(sim, F, event);
    sim_ask(sim, event, sim_exponential,
            sim_after(sim, pipe_done, event, event->due));
}

/* ---- batched doorbell: one notification of the device in a turn */

static void kick_done(struct sim *sim, const struct event *event)
{
    if (sim->scratch == 0)
        sim_compute(sim, H, (uint64_t)(15 * US));
    sim->scratch = 1;
    sim_part(sim, G, event);
    sim_next(sim, event, event->began);
}

static void kick_request(struct sim *sim, const struct event *event)
{
    sim_part(sim, F, event);
    sim_wait(sim, sim_after(sim, kick_done, event, event->due));
}

static void kick_end(struct sim *sim)
{
    sim->scratch = 0;
    if (sim->waiters == 0)
        return;
    sim_compute(sim, KICK, (uint64_t)(40 * US));
    for (uint32_t i = 0; i < sim->waiters; i++)
        sim_ask(sim, sim->waiting[i], sim_about, sim->waiting[i]);
    sim->waiters = 0;
}

/* ---- hedged requests: the second one is sent when the first is late */

static void hedge_done(struct sim *sim, const struct event *event)
{
    sim_compute(sim, FLUSH, (uint64_t)US);
    if (sim->waiting[event->peer]->number != event->number)
        return;
    sim->waiting[event->peer]->number = UINT32_MAX;
    sim_part(sim, G, event);
    sim_next(sim, event, event->began);
}

static void hedge_ask(struct sim *sim, const struct event *event,
                      uint32_t attempt)
{
    double us = sim_uniform(20 + attempt, event->peer, event->number) < 0.2
                    ? 1500
                    : sim->parameter[DISK];

    sim_request(sim, 0,
                sim_exponential(us, 22 + attempt, event->peer, event->number),
                sim_after(sim, hedge_done, event, event->began));
}

static void hedge_late(struct sim *sim, const struct event *event)
{
    sim_compute(sim, FLUSH, (uint64_t)US);
    if (sim->waiting[event->peer]->number != event->number)
        return;
    sim_part(sim, H, event);
    hedge_ask(sim, event, 1);
}

static void hedge_request(struct sim *sim, const struct event *event)
{
    struct event timed = *event;

    timed.began = event->due;
    sim_part(sim, F, event);
    sim->waiting[event->peer]->number = event->number;
    hedge_ask(sim, &timed, 0);
    sim_timer_at(sim, sim_virtual(sim) + (uint64_t)(250 * US),
                 sim_after(sim, hedge_late, event, event->due));
}

static void hedge_start(struct sim *sim)
{
    sim_first_requests(sim);
    for (uint32_t peer = 0; peer < sim->parameter[PEERS]; peer++)
        sim_wait(sim, sim_event(sim, hedge_late, peer, UINT32_MAX, 0));
}

/* ---- open loop: requests arrive on average every ROUND_TRIP */

#define OPEN_BEGINS_US 20000.0

static void open_request(struct sim *sim, const struct event *event)
{
    sim_part(sim, F, event);
    sim_part(sim, G, event);
    sim_visit(sim, event->due);
}

/* The peer's whole schedule is known from the start, and a few thousand of its
 * packets are on their way. */
static void open_end(struct sim *sim)
{
    while (sim->scratch < sim->visits + 4000) {
        uint32_t number = sim->scratch++;

        sim->schedule +=
            sim_exponential(sim->parameter[ROUND_TRIP], 30, 0, number);
        sim_send_at(sim, sim->schedule,
                    sim_event(sim, open_request, 0, number, 0));
    }
}

static void open_start(struct sim *sim)
{
    prof_agent_init(&sim->peers[0], PROF_AGENT_OPEN, 0);
    /* after the schedule is made: what arrived meanwhile would be a burst */
    sim->schedule = (uint64_t)(OPEN_BEGINS_US * US);
    open_end(sim);
}

/* ---- work on a schedule: one unit every ROUND_TRIP, by absolute times */

static void tick_run(struct sim *sim, const struct event *event)
{
    sim_part(sim, F, event);
    sim_part(sim, G, event);
    sim_visit(sim, event->due);
    sim_timer_at(sim, event->due + (uint64_t)(sim->parameter[ROUND_TRIP] * US),
                 sim_event(sim, tick_run, 0, event->number + 1, 0));
}

static void tick_start(struct sim *sim)
{
    sim_timer_at(sim, (uint64_t)(sim->parameter[ROUND_TRIP] * US),
                 sim_event(sim, tick_run, 0, 0, 0));
}

/* ---- token bucket: reads the clock to see what it may send */

#define BUCKET_DEPTH 16

static void bucket_run(struct sim *sim, const struct event *event)
{
    uint64_t now = sim_virtual(sim), token = sim->parameter[ROUND_TRIP] * 1000;
    uint64_t full = (uint64_t)sim->scratch * token;

    if (now - event->began > full + BUCKET_DEPTH * token)
        sim->scratch = (uint32_t)((now - event->began) / token) - BUCKET_DEPTH;
    while ((uint64_t)(sim->scratch + 1) * token <= now - event->began) {
        struct event unit = *event;

        unit.number = sim->scratch++;
        sim_part(sim, F, &unit);
        sim_part(sim, G, &unit);
        sim_visit(sim, event->due);
    }
    sim_timer_at(sim, sim_virtual(sim) + (uint64_t)(5 * US),
                 sim_event(sim, bucket_run, 0, 0, event->began));
}

static void bucket_start(struct sim *sim)
{
    sim_timer_at(sim, (uint64_t)(5 * US), sim_event(sim, bucket_run, 0, 0, 0));
}

/* ---- G, then the disk, and meanwhile F, which the disk may hide */

static void hidden_done(struct sim *sim, const struct event *event)
{
    sim_part(sim, H, event);
    sim_next(sim, event, event->began);
}

static void hidden_request(struct sim *sim, const struct event *event)
{
    sim_part(sim, G, event);
    sim_ask(sim, event, sim_about,
            sim_after(sim, hidden_done, event, event->due));
    sim_part(sim, F, event);
}

/* ---- a timeout that races with the answer: then it is asked again */

#define TIMEOUT_US 150

static void retry_ask(struct sim *sim, const struct event *event);

/* Whether (event) is about what its peer waits for now. */
static inline bool is_awaited(const struct sim *sim, const struct event *event)
{
    return sim->waiting[event->peer]->number == event->number;
}

static void retry_done(struct sim *sim, const struct event *event)
{
    if (!is_awaited(sim, event))
        return;
    sim_visit(sim, event->began);
    retry_ask(sim, event);
}

static void retry_late(struct sim *sim, const struct event *event)
{
    if (is_awaited(sim, event))
        retry_ask(sim, event);
}

static void retry_ask(struct sim *sim, const struct event *event)
{
    uint32_t number = ++sim->waiting[event->peer]->number;

    sim_compute(sim, F, (uint64_t)(sim->parameter[OF_F] * US / 10));
    sim_timer_at(sim, sim_virtual(sim) + (uint64_t)(TIMEOUT_US * US),
                 sim_event(sim, retry_late, event->peer, number, event->due));
    sim_request(
        sim, 0,
        (uint64_t)(US * (60 + 140 * sim_uniform(11, event->peer, number))),
        sim_event(sim, retry_done, event->peer, number, event->due));
}

static void retry_start(struct sim *sim)
{
    for (uint32_t peer = 0; peer < sim->parameter[PEERS]; peer++)
        sim_wait(sim, sim_event(sim, retry_late, peer, 0, 0));
    sim_first_requests(sim);
}

/* ---- a mutex that is held while its task sleeps: F, then G, asleep, H */

static void mutex_awake(struct sim *sim, const struct event *event);

static void mutex_have(struct sim *sim, const struct event *event,
                       uint64_t began)
{
    sim->scratch = 1; /* locked */
    sim_part(sim, G, event);
    sim_timer_at(sim,
                 sim_virtual(sim) + sim_about(sim->parameter[DISK], 11,
                                              event->peer, event->number),
                 sim_after(sim, mutex_awake, event, began));
}

/* The one that has waited for longest is next. */
static void mutex_unlock(struct sim *sim)
{
    struct event *next = sim->waiting[0];

    sim->scratch = 0;
    if (sim->waiters == 0)
        return;
    sim->waiters--;
    for (uint32_t i = 0; i < sim->waiters; i++)
        sim->waiting[i] = sim->waiting[i + 1];
    mutex_have(sim, next, next->began);
    sim_drop(next);
}

static void mutex_awake(struct sim *sim, const struct event *event)
{
    sim_part(sim, H, event);
    sim_next(sim, event, event->began);
    mutex_unlock(sim);
}

static void mutex_request(struct sim *sim, const struct event *event)
{
    sim_part(sim, F, event);
    if (sim->scratch == 0)
        mutex_have(sim, event, event->due);
    else
        sim_wait(sim, sim_after(sim, mutex_request, event, event->due));
}

/* ---- a worker that takes all there is, and sleeps after it */

static void worker_run(struct sim *sim, const struct event *unused)
{
    (void)unused;
    sim_flush(sim);
    sim_timer_at(sim, sim_virtual(sim) + (uint64_t)(sim->parameter[DISK] * US),
                 sim_event(sim, worker_run, 0, 0, 0));
}

static void worker_request(struct sim *sim, const struct event *event)
{
    sim_part(sim, F, event);
    sim_wait(sim, sim_after(sim, worker_run, event, event->due));
}

static void worker_start(struct sim *sim)
{
    sim_first_requests(sim);
    sim_timer_at(sim, (uint64_t)US, sim_event(sim, worker_run, 0, 0, 0));
}

static const struct program closed = {"closed loop", .request = closed_request};
static const struct program background = {"work in idle time",
                                          .request = closed_request,
                                          .background = slice_of_work};
static const struct program disk = {"disk", .request = disk_request};
static const struct program pipeline = {"pipeline", .request = pipe_request};
static const struct program doorbell = {
    "batched doorbell", .request = kick_request, .end_of_turn = kick_end};
static const struct program hedge = {
    "hedged requests", .request = hedge_request, .start = hedge_start};
static const struct program open_loop = {"open loop", .start = open_start,
                                         .end_of_turn = open_end};
static const struct program hidden = {"one hides the other",
                                      .request = hidden_request};
static const struct program retry = {"timeout and retry", .request = retry_late,
                                     .start = retry_start};
static const struct program mutex = {"mutex, asleep", .request = mutex_request};
static const struct program worker = {
    "batching worker", .request = worker_request, .start = worker_start};
static const struct program tick = {"periodic tick", .start = tick_start};
static const struct program bucket = {"token bucket", .start = bucket_start};

#endif
