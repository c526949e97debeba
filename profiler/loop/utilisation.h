/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_UTILISATION_H
#define PROF_LOOP_UTILISATION_H

/*
 * How busy the loop was in the last seconds: all but the time between
 * prof_loop_idle() and prof_loop_idle_end(). What had been idle at the end of
 * each whole second is kept for a minute; it is found when idle time begins or
 * ends, so nothing is done in between. Times are of the time stamp counter;
 * contexts: thread.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_UTILISATION_SECONDS 60u

/* Begins at (tsc), with (hz) cycles a second. */
void prof_utilisation_open(uint64_t tsc, uint64_t hz);

struct prof_utilisation {
    uint64_t second; /* cycles of one */
    uint64_t next;   /* end of the present one */
    uint64_t last;   /* the last call */
    uint64_t idle;   /* time that was idle until then */
    bool is_idle;    /* since then */
    uint32_t at;     /* of the newest mark */
    uint32_t count;  /* marks, the newest ones */
    uint64_t marks[PROF_UTILISATION_SECONDS + 1]; /* idle time at the end of
                                                     whole seconds */
};

extern struct prof_utilisation prof_utilisation_state;

/* Marks the seconds that have ended until (tsc). */
void prof_utilisation_mark(uint64_t tsc);

/* The CPU is idle from (tsc) on, or busy: with each turn of the loop, so this
 * is inline but for the first call in a second. */
static inline void prof_utilisation_change(uint64_t tsc, bool is_idle)
{
    struct prof_utilisation *state = &prof_utilisation_state;

    if (__builtin_expect(tsc >= state->next, 0))
        prof_utilisation_mark(tsc);
    if (state->is_idle)
        state->idle += tsc - state->last;
    state->last = tsc;
    state->is_idle = is_idle;
}

/* How busy it was in the last (*seconds) whole seconds before (tsc), in
 * thousandths. Lowers (*seconds) to what there was; with 0 returns 0. */
uint32_t prof_utilisation(uint64_t tsc, uint32_t *seconds);

#endif
