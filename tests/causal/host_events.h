/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_HOST_EVENTS_H
#define CAUSAL_HOST_EVENTS_H

/*
 * Events of the programs where they are on the host: from malloc(), and in a
 * priority queue of sim->world, (held), until they are due. After the
 * definition of struct world.
 */

static inline struct event *sim_event(struct sim *sim, sim_handler *run,
                                      uint32_t peer, uint32_t number,
                                      uint64_t began)
{
    struct event *event = calloc(1, sizeof *event);

    (void)sim;
    if (event == NULL)
        abort();
    event->run = run;
    event->peer = peer;
    event->number = number;
    event->began = began;
    return event;
}

static inline void sim_drop(struct event *event)
{
    free(event);
}

static inline void sim_timer_at(struct sim *sim, uint64_t due,
                                struct event *event)
{
    event->due = due;
    if (!prof_held_put(&sim->world.held, due, event))
        abort();
}

#endif
