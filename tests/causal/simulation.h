/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMULATION_H
#define SIMULATION_H

/*
 * The world of the programs in simulated time, for unit tests: what this loop
 * does with virtual time is what a kernel has to do.
 */

#include "causal/held_events.h"
#include "causal/virtual_clock.h"

#define POLL_CYCLES 2000u
#define HELD_MAX 65536u

struct world_event {
    char unused;
};

struct world {
    uint64_t now;
    struct prof_virtual_clock clock;
    struct prof_held held;
    void (*visited)(void *context, uint64_t now); /* may be NULL */
    void *context;
};

#include "world.h"

static inline struct prof_moment sim_time(const struct sim *sim)
{
    const struct world *world = &sim->world;

    return (struct prof_moment){world->now,
                                prof_virtual_time(&world->clock, world->now)};
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

static inline bool sim_has_agents(void)
{
    return true;
}

static inline void sim_compute(struct sim *sim, uint32_t part, uint64_t cycles)
{
    struct world *world = &sim->world;

    if (part != sim->target) {
        world->now += cycles;
        return;
    }
    prof_virtual_enter(&world->clock, world->now);
    world->now += cycles - cycles * sim->shorter / PROF_ONE;
    prof_virtual_leave(&world->clock, world->now, 0);
}

#include "host_events.h"

static inline void sim_visited(struct sim *sim, uint64_t began)
{
    (void)began;
    if (sim->world.visited != NULL)
        sim->world.visited(sim->world.context, sim->world.now);
}

/* ---- the loop */

static inline void sim_fetch(struct sim *sim)
{
    struct world *world = &sim->world;

    while (sim_first(sim) != NULL && sim_first(sim)->arrival <= world->now) {
        struct event *event = sim_arrived(sim);

        event->due = sim_due(sim, event,
                             prof_virtual_time(&world->clock, event->arrival));
        if (!prof_held_put(&world->held, event->due, event))
            abort();
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

static inline void sim_idle(struct sim *sim)
{
    struct world *world = &sim->world;
    const struct prof_held_event *first = prof_held_first(&world->held);
    uint64_t next = UINT64_MAX;

    if (first != NULL)
        next = prof_virtual_to_real(&world->clock, first->due);
    if (sim_first(sim) != NULL && sim_first(sim)->arrival < next)
        next = sim_first(sim)->arrival;
    if (next == UINT64_MAX)
        abort();
    if (next > world->now)
        world->now = next;
}

/* Runs until (visits) of them. */
static inline void sim_run(struct sim *sim, uint64_t visits)
{
    const struct program *program = sim->program;

    while (sim->visits < visits) {
        sim->world.now += POLL_CYCLES;
        sim_fetch(sim);
        if (!sim_run_batch(sim) &&
            (program->background == NULL || !program->background(sim)))
            sim_idle(sim);
        if (program->end_of_turn != NULL)
            program->end_of_turn(sim);
    }
}

static inline struct sim *sim_new(const struct program *program,
                                  const uint32_t parameter[8])
{
    struct sim *sim = calloc(1, sizeof *sim);
    void *room = calloc(1, PROF_HELD_BYTES(HELD_MAX));

    if (sim == NULL || room == NULL)
        abort();
    sim->world.now = 1;
    prof_held_init(&sim->world.held, room, HELD_MAX);
    sim_init(sim, program, parameter);
    return sim;
}

static inline void sim_free(struct sim *sim)
{
    while (prof_held_first(&sim->world.held) != NULL)
        free(prof_held_take(&sim->world.held)->event);
    while (sim_first(sim) != NULL)
        free(sim_arrived(sim));
    while (sim->waiters != 0)
        free(sim->waiting[--sim->waiters]);
    free(sim->world.held.events);
    free(sim);
}

#endif
