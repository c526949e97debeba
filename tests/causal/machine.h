/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MACHINE_H
#define MACHINE_H

/*
 * The world of the programs in a guest: the kernel's event loop and timers, and
 * instructions that are counted (QEMU's -icount: one takes a nanosecond).
 * Devices and peers are models that answer at times of the TSC; the loop learns
 * of it in its turn, as from a real device.
 */

#include "guest/guest.h"

#include <kernel/clock.h>
#include <kernel/loop.h>
#include <prof/causal.h>

struct world_event {
    struct loop_answer answer;
    struct loop_timer timer;
    struct event *next, **link;             /* all that were not run */
    struct event *next_timed, **timed_link; /* those with a timer */
};

struct world {
    struct prof_moment begin;
    bool ran; /* an event, in this turn */
    struct event *events, *timed;
};

#include "causal/world.h"

#define IDLE_MAX 20000u /* cycles, for what else the loop may have to do */

static PROF_PROGRESS(visit, "request done");
static PROF_LATENCY(latency, "request");
static PROF_TARGET(part_f, "F");
static struct sim *running;

static inline struct prof_moment sim_moment(const struct sim *sim)
{
    (void)sim;
    return prof_causal_now();
}

static inline struct prof_moment sim_time(const struct sim *sim)
{
    struct prof_moment now = sim_moment(sim);

    now.real -= sim->world.begin.real;
    now.virtual_time -= sim->world.begin.virtual_time;
    return now;
}

static inline struct prof_moment sim_begin(const struct sim *sim)
{
    return sim->world.begin;
}

static inline bool sim_has_agents(void)
{
    return prof_causal_running();
}

__attribute__((noinline)) static void spin(uint64_t cycles)
{
    guest_execute((uint32_t)cycles);
}

/* The same for the target alone, which can be found in samples. */
#define SMOOTH_PART "spin_in_target"
__attribute__((noinline, noclone)) static void spin_in_target(uint64_t cycles)
{
    guest_execute((uint32_t)cycles);
}

static inline void sim_compute(struct sim *sim, uint32_t part, uint64_t cycles)
{
    if (part != sim->target) {
        spin(cycles);
        return;
    }
    cycles -= cycles * sim->shorter / PROF_ONE;
    prof_target_enter(&part_f);
    spin_in_target(cycles);
    prof_target_leave(&part_f);
}

static inline void sim_visited(struct sim *sim, uint64_t began)
{
    prof_progress(&visit);
    prof_latency_end(&latency, began + sim->world.begin.virtual_time);
}

/* ---- events */

static inline void sim_drop(struct event *event)
{
    *event->world.link = event->world.next;
    if (event->world.next != NULL)
        event->world.next->world.link = event->world.link;
    if (event->world.timed_link != NULL) {
        *event->world.timed_link = event->world.next_timed;
        if (event->world.next_timed != NULL)
            event->world.next_timed->world.timed_link = event->world.timed_link;
    }
    loop_cancel(&event->world.timer);
    free(event);
}

static inline void sim_run_event(void *context)
{
    struct event *event = context;

    running->world.ran = true;
    prof_handler_begin((const void *)event->run);
    event->run(running, event);
    sim_drop(event);
}

static inline struct event *sim_event(struct sim *sim, sim_handler *run,
                                      uint32_t peer, uint32_t number,
                                      uint64_t began)
{
    struct event *event = calloc(1, sizeof *event);

    if (event == NULL)
        abort();
    event->run = run;
    event->peer = peer;
    event->number = number;
    event->began = began;
    event->world.answer =
        (struct loop_answer){sim_run_event, event, NULL, NULL};
    event->world.next = sim->world.events;
    event->world.link = &sim->world.events;
    if (event->world.next != NULL)
        event->world.next->world.link = &event->world.next;
    sim->world.events = event;
    return event;
}

static inline void sim_timer_at(struct sim *sim, uint64_t due,
                                struct event *event)
{
    uint64_t now = sim_virtual(sim);

    event->due = due;
    event->world.next_timed = sim->world.timed;
    event->world.timed_link = &sim->world.timed;
    if (event->world.next_timed != NULL)
        event->world.next_timed->world.timed_link = &event->world.next_timed;
    sim->world.timed = event;
    loop_once(&event->world.timer, due > now ? due - now : 0, sim_run_event,
              event);
}

/* ---- what arrives, in the loop's turn */

static bool model_waiting(void)
{
    return running != NULL && sim_first(running) != NULL &&
           sim_first(running)->arrival <= sim_time(running).real;
}

/* What arrives in the meantime waits for the next turn. */
static void model_turn(void)
{
    uint64_t until = running == NULL ? 0 : sim_time(running).real;

    while (running != NULL && sim_first(running) != NULL &&
           sim_first(running)->arrival <= until) {
        struct event *event = sim_arrived(running);
        const struct prof_moment now = sim_time(running);

        event->due = sim_due(running, event,
                             now.virtual_time - (now.real - event->arrival));
        loop_deliver(&event->world.answer,
                     event->due + running->world.begin.virtual_time);
    }
}

/* What a program does outside of the loop's handlers is one, too. */
static bool model_handler(bool (*work)(struct sim *sim), struct sim *sim)
{
    bool worked;

    prof_handler_begin((const void *)work);
    worked = work(sim);
    prof_handler_end();
    while (prof_causal_owes())
        model_turn();
    return worked;
}

static bool model_end(struct sim *sim)
{
    sim->program->end_of_turn(sim);
    return true;
}

static inline uint64_t sooner(uint64_t soon, uint64_t due, uint64_t now)
{
    uint64_t left = due > now ? due - now : 0;

    return left < soon ? left : soon;
}

/* Turns of the loop until something arrives, or is due, would cost the emulator
 * much. As nothing runs, virtual time passes as real time does. */
static inline void sim_idle(const struct sim *sim)
{
    const struct prof_moment now = sim_time(sim);
    uint64_t soon = IDLE_MAX, due;

    if (sim_first(sim) != NULL)
        soon = sooner(soon, sim_first(sim)->arrival, now.real);
    if (prof_causal_next(&due))
        soon =
            sooner(soon, due, now.virtual_time + sim_begin(sim).virtual_time);
    for (const struct event *each = sim->world.timed; each != NULL;
         each = each->world.next_timed)
        soon = sooner(soon, each->due, now.virtual_time);
    guest_execute((uint32_t)soon);
}

static inline void sim_run(struct sim *sim, uint64_t visits)
{
    const struct program *program = sim->program;

    while (sim->visits < visits) {
        sim->world.ran = false;
        loop_poll();
        if (!sim->world.ran && program->background != NULL)
            (void)model_handler(program->background, sim);
        if (program->end_of_turn != NULL) {
            if (sim->waiters != 0)
                (void)model_handler(model_end, sim);
            else
                program->end_of_turn(sim);
        }
        if (!sim->world.ran && program->background == NULL)
            sim_idle(sim);
    }
}

static inline struct sim *sim_new(const struct program *program,
                                  const uint32_t parameter[8])
{
    static struct loop_source source = {.waiting = model_waiting,
                                        .turn = model_turn};
    static bool added;
    struct sim *sim = calloc(1, sizeof *sim);

    if (sim == NULL)
        abort();
    if (!added)
        loop_add(&source);
    added = true;
    running = sim;
    sim->world.begin = prof_causal_now();
    sim_init(sim, program, parameter);
    return sim;
}

/* Whether each of (peers) has something under way, and so will go on. */
static inline bool sim_has_all_peers(const struct sim *sim, uint32_t peers)
{
    uint64_t seen = 0;

    for (const struct event *each = sim->world.events; each != NULL;
         each = each->world.next)
        seen |= (uint64_t)1 << each->peer;
    return seen == ((uint64_t)1 << peers) - 1;
}

/* After prof_causal_stop(). */
static inline void sim_free(struct sim *sim)
{
    uint64_t due;

    while (prof_causal_next(&due))
        (void)prof_causal_take();
    while (sim->world.events != NULL)
        sim_drop(sim->world.events);
    running = NULL;
    free(sim);
}

#endif
