/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A ring of sums, one for the end of each second. Between two calls the CPU was
 * idle, or was not; so what it had been at any moment in between is known
 * exactly.
 */

#include "loop/utilisation.h"

#include "base/cpu.h"

#define MARKS (PROF_UTILISATION_SECONDS + 1)

struct prof_utilisation prof_utilisation_state;
static struct prof_utilisation *const state = &prof_utilisation_state;

static void mark(uint64_t idle)
{
    state->at = (state->at + 1) % MARKS;
    state->marks[state->at] = idle;
    if (state->count < MARKS)
        state->count++;
    state->next += state->second;
}

void prof_utilisation_open(uint64_t tsc, uint64_t hz)
{
    state->second = hz != 0 ? hz : 1;
    state->next = state->last = tsc;
    state->idle = state->count = 0;
    state->is_idle = false;
    mark(0);
}

/* Seconds that are older than all marks need none. */
static void skip(uint64_t tsc)
{
    uint64_t behind = tsc - state->next, seconds = 0, step = state->second;

    if (behind < MARKS * state->second)
        return;
    while (step <= behind >> 1)
        step <<= 1;
    for (; step >= state->second; step >>= 1)
        if (step <= behind - seconds)
            seconds += step;
    seconds -= (MARKS - 1) * state->second;
    state->next += seconds;
}

void prof_utilisation_mark(uint64_t tsc)
{
    if (tsc >= state->next)
        skip(tsc);
    while (tsc >= state->next)
        mark(state->idle + (state->is_idle ? state->next - state->last : 0));
}

/* (part) of (whole), in thousandths. */
static uint32_t permille(uint64_t part, uint64_t whole)
{
    while (whole > UINT32_MAX / 1000) {
        whole >>= 1;
        part >>= 1;
    }
    return whole == 0 ? 0
                      : (uint32_t)prof_divide(part * 1000 + whole / 2,
                                              (uint32_t)whole);
}

uint32_t prof_utilisation(uint64_t tsc, uint32_t *seconds)
{
    uint64_t idle;

    if (state->second == 0) {
        *seconds = 0;
        return 0;
    }
    prof_utilisation_change(tsc, state->is_idle);
    if (*seconds > state->count - 1)
        *seconds = state->count - 1;
    if (*seconds == 0)
        return 0;
    idle = state->marks[state->at] -
           state->marks[(state->at + MARKS - *seconds) % MARKS];
    return 1000 - permille(idle, state->second * *seconds);
}
