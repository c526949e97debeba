/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COZ_WORLD_H
#define COZ_WORLD_H

/*
 * The world of the programs as a process of Linux, on one thread: devices and
 * peers are models that answer at times of CLOCK_MONOTONIC, and the loop sleeps
 * until something is due. There is no virtual time: what Coz makes of the real
 * one is up to Coz. A microsecond of the programs takes (scale) of the
 * machine's.
 */

#include "causal/held_events.h"
#include "machine.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>

#define HELD_MAX 65536u

struct world_event {
    char unused;
};

struct world {
    uint64_t begin; /* ns */
    struct prof_held held;
};

#include "causal/world.h"

static inline struct prof_moment sim_time(const struct sim *sim)
{
    uint64_t now = (machine_ns() - sim->world.begin) / scale;

    return (struct prof_moment){now, now};
}

static inline struct prof_moment sim_moment(const struct sim *sim)
{
    return sim_time(sim);
}

static inline struct prof_moment sim_begin(const struct sim *sim)
{
    (void)sim;
    return (struct prof_moment){0, 0};
}

/* There are none; what would ask them is left out by the compiler. */
static inline bool sim_has_agents(void)
{
    return false;
}

void prof_agent_init(struct prof_agent *agent, enum prof_agent_kind kind,
                     uint32_t servers)
{
    (void)agent;
    (void)kind;
    (void)servers;
}

static inline void sim_compute(struct sim *sim, uint32_t part, uint64_t cycles)
{
    if (part == sim->target)
        machine_compute_part(cycles);
    else
        machine_compute(cycles);
}

#include "causal/host_events.h"

static inline void sim_visited(struct sim *sim, uint64_t began)
{
    (void)sim;
    (void)began;
    machine_visited();
}

/* ---- the loop */

static inline void sim_fetch(struct sim *sim)
{
    const uint64_t now = sim_virtual(sim);

    while (sim_first(sim) != NULL && sim_first(sim)->arrival <= now) {
        struct event *event = sim_arrived(sim);

        sim_timer_at(sim, event->arrival, event);
    }
}

static inline bool sim_run_batch(struct sim *sim)
{
    static struct event *batch[HELD_MAX];
    const struct prof_held_event *first;
    uint64_t until = sim_virtual(sim);
    uint32_t count = 0;

    while ((first = prof_held_first(&sim->world.held)) != NULL &&
           first->due <= until)
        batch[count++] = prof_held_take(&sim->world.held)->event;
    for (uint32_t i = 0; i < count; i++) {
        batch[i]->run(sim, batch[i]);
        free(batch[i]);
    }
    return count != 0;
}

/* Sleeps until something is due, or a signal of the profiler. */
static inline void sim_idle(struct sim *sim)
{
    const struct prof_held_event *first = prof_held_first(&sim->world.held);
    uint64_t next = first == NULL ? UINT64_MAX : first->due;

    if (sim_first(sim) != NULL && sim_first(sim)->arrival < next)
        next = sim_first(sim)->arrival;
    if (next == UINT64_MAX)
        abort();
    machine_sleep_until(sim->world.begin + next * scale);
}

/* Runs (program) until machine_is_over(). */
static inline void sim_run(const struct program *program,
                           const uint32_t parameter[8], uint32_t target)
{
    static struct sim sim;
    void *room = calloc(1, PROF_HELD_BYTES(HELD_MAX));

    if (room == NULL)
        abort();
    prof_held_init(&sim.world.held, room, HELD_MAX);
    sim.world.begin = machine_ns();
    sim.target = target;
    sim_init(&sim, program, parameter);
    while (!machine_is_over()) {
        sim_fetch(&sim);
        if (!sim_run_batch(&sim) &&
            (program->background == NULL || !program->background(&sim)))
            sim_idle(&sim);
        if (program->end_of_turn != NULL)
            program->end_of_turn(&sim);
    }
}

#endif
