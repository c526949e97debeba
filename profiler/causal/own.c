/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/own.h"

#include "causal/patch.h"

/* The least of so many is taken: no interrupt, and code in the caches. */
#define ROUNDS 8u

struct prof_own prof_own;

static void visit(struct prof_target *target)
{
    prof_causal_enter(target);
    prof_causal_leave(target);
}

/* The last entry leads to nothing but a return. */
static void call(struct prof_target *unused)
{
    const struct prof_patched *probe = &prof_patch->functions[PROF_PROBE];

    (void)unused;
    ((void (*)(void))prof_patch_entry(probe))();
}

/* Cycles in (target), which does nothing, of one of (visits). */
static uint32_t least(void (*visits)(struct prof_target *target),
                      struct prof_target *target)
{
    const struct prof_virtual_clock *clock = &prof_causal.clock;
    uint64_t least = UINT32_MAX;

    target->number = prof_causal.experiments.target + 1;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t before = clock->in_target;

        visits(target);
        if (clock->in_target - before < least)
            least = clock->in_target - before;
    }
    return (uint32_t)least;
}

void prof_own_measure(void)
{
    static struct prof_target probe;
    struct prof_virtual_clock clock = prof_causal.clock;
    bool outside = prof_causal_outside;

    prof_own = (struct prof_own){0};
    prof_causal_outside = false;
    prof_causal.clock.nested = 0; /* a target by samples is entered */
    prof_own.visit = least(visit, &probe);
    if (prof_patch != NULL)
        prof_own.patched =
            least(call, &prof_patch->functions[PROF_PROBE].target);
    prof_causal_outside = outside;
    prof_causal.clock = clock;
}

void prof_own_end(uint64_t began, uint32_t more)
{
    struct prof_virtual_clock *clock = &prof_causal.clock;

    if (began == 0 || clock->nested == 0 || prof_causal_outside)
        return;
    if (began < clock->since)
        began = clock->since;
    prof_virtual_except(clock, prof_tsc() - began + more);
}
