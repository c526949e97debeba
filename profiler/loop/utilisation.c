/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A ring of sums, one for the end of each second. An idle span that contains
 * such a moment was idle until then, since an interrupt ends it. When steal
 * becomes known, the marks that were made since it happened are corrected.
 */

#include "loop/loop.h"

#define MARKS PROF_UTILISATION_MARKS
#define SECOND_MAX (1u << 24) /* of marks: a minute is below 2^31 */

/* Until (begin) the CPU was idle for (before), and (during) since then. */
struct idle {
    uint64_t begin, before, during;
};

/* The present span is on the stack, below a drain in an interrupt. */
static struct idle idle_at(uint64_t tsc)
{
    const struct prof_loop_node *node =
        prof_loop_sites_here()->sites[PROF_SITE_IDLE].top;
    struct idle idle = {
        tsc, prof_loop_cpu_here()->utilisation.before + node->self_cycles, 0};
    const struct prof_loop_frame *at = prof_loop_cpu_here()->top;

    for (uint32_t depth = 0; at != NULL && depth < PROF_LOOP_DEPTH_MAX;
         at = at->outer, depth++)
        if (at->node == node) {
            idle.begin = prof_loop_begun(at);
            idle.during += prof_loop_so_far(at, tsc);
        }
    return idle;
}

uint64_t prof_utilisation_idle(uint64_t tsc)
{
    struct idle idle = idle_at(tsc);

    return idle.before + idle.during;
}

/* (cycles) in the unit of marks. */
static __attribute__((noinline)) uint32_t
marks_of(const struct prof_utilisation *state, uint64_t cycles)
{
    return (uint32_t)(cycles >> state->shift);
}

static void put_mark(struct prof_utilisation *state, uint64_t idle)
{
    state->at = (state->at + 1) % MARKS;
    state->idle_marks[state->at] = marks_of(state, idle);
    state->stolen_marks[state->at] = marks_of(state, state->stolen);
    if (state->count < MARKS)
        state->count++;
    state->next += state->second;
}

void prof_utilisation_open(uint64_t tsc, uint64_t hz)
{
    struct prof_utilisation *state = &prof_loop_cpu_here()->utilisation;

    *state = (struct prof_utilisation){.second = hz != 0 ? hz : 1, .next = tsc};
    while (state->second >> state->shift > SECOND_MAX)
        state->shift++;
    put_mark(state, 0);
}

/* Seconds that are older than all marks need none. */
static void skip_seconds(struct prof_utilisation *state, uint64_t tsc)
{
    uint64_t seconds = prof_divide((tsc - state->next) >> state->shift,
                                   marks_of(state, state->second));

    if (seconds > 2 * MARKS) /* what was rounded is less than MARKS */
        state->next += (seconds - 2 * MARKS) * state->second;
}

void prof_utilisation_mark(uint64_t tsc)
{
    struct prof_utilisation *state = &prof_loop_cpu_here()->utilisation;
    struct idle idle;

    if (tsc < state->next)
        return;
    idle = idle_at(tsc);
    skip_seconds(state, tsc);
    while (tsc >= state->next) {
        uint64_t part = 0;

        if (state->next > idle.begin)
            part = state->next - idle.begin;
        if (part > idle.during)
            part = idle.during;
        put_mark(state, idle.before + part);
    }
}

void prof_utilisation_reset(uint64_t tsc)
{
    prof_utilisation_mark(tsc);
    prof_loop_cpu_here()->utilisation.before = prof_utilisation_idle(tsc);
}

void prof_utilisation_stolen(uint64_t tsc, uint64_t cycles, bool was_idle)
{
    struct prof_utilisation *state = &prof_loop_cpu_here()->utilisation;
    uint64_t begin = tsc - cycles, end = state->next - state->second;
    uint32_t at = state->at;

    state->stolen += cycles;
    for (uint32_t i = 0; i < state->count && end > begin; i++) {
        uint32_t part = marks_of(state, end < tsc ? end - begin : cycles);

        state->stolen_marks[at] += part;
        if (was_idle)
            state->idle_marks[at] -= part;
        at = (at + MARKS - 1) % MARKS;
        end -= state->second;
    }
}

/* From the mark (seconds) before the newest on. What is rounded may make it
 * negative. */
static uint32_t since(const struct prof_utilisation *state,
                      const uint32_t *marks, uint32_t seconds)
{
    uint32_t difference =
        marks[state->at] - marks[(state->at + MARKS - seconds) % MARKS];

    return (int32_t)difference < 0 ? 0 : difference;
}

/* (part) of (whole), in thousandths. */
static uint32_t permille(uint32_t part, uint32_t whole)
{
    return (uint32_t)prof_divide((uint64_t)part * 1000 + whole / 2, whole);
}

uint32_t prof_utilisation(uint64_t tsc, uint32_t *seconds)
{
    struct prof_utilisation *state = &prof_loop_cpu_here()->utilisation;
    uint32_t whole, stolen, idle;

    if (state->second == 0) {
        *seconds = 0;
        return 0;
    }
    prof_utilisation_mark(tsc);
    if (*seconds > state->count - 1)
        *seconds = state->count - 1;
    whole = marks_of(state, state->second) * *seconds;
    stolen = since(state, state->stolen_marks, *seconds);
    idle = since(state, state->idle_marks, *seconds);
    if (whole <= stolen)
        return 0;
    whole -= stolen;
    return idle < whole ? 1000 - permille(idle, whole) : 0;
}
