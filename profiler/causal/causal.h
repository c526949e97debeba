/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_CAUSAL_H
#define CAUSAL_CAUSAL_H

/* What the files of this room share. */

#include "causal/experiments.h"
#include "causal/held.h"
#include "causal/virtual_clock.h"

#include <prof/causal.h>

struct prof_causal {
    struct prof_virtual_clock clock;
    struct prof_held held;
    struct prof_experiments experiments;
    uint64_t tsc_hz;
    void *memory;   /* of experiments */
    bool releases;  /* all that is held is due */
    uint32_t epoch; /* of agents: counts releases */
    uint64_t answers;
    uint64_t contradictions;
    uint64_t refused;
    uint32_t strange; /* functions that were not as they were left */
};
extern struct prof_causal prof_causal;

/* Now; the sampler's interrupts so far are not in the target. Contexts:
 * interrupts off. */
uint64_t prof_causal_exactly(void);

/* The target is left at (now), by that; it was entered just now, and not when
 * that was found. Contexts: interrupts off. */
void prof_causal_leave_at(struct prof_target *target, uint64_t now);
void prof_causal_entered_now(const struct prof_target *target);

/* All that is held is due from now on. */
void prof_causal_release(void);

/* The last one added is the first. */
struct prof_target *prof_causal_targets(void);
const struct prof_progress *prof_causal_points(void);

#endif
