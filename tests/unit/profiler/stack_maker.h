/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_MAKER_H
#define STACK_MAKER_H

/* Ticks with callers, as the stub leaves them in the vectors. */

#include "profiler_world.h"

/* A tick whose callers are at (callers), innermost first, and whose walk ended
 * for (reason). */
static inline void tick_stopped(uintptr_t pc, uint64_t tsc,
                                const uintptr_t *callers, uint32_t count,
                                uint32_t reason)
{
    struct prof_frames *frames = &prof_cpus[0].frames;
    uint32_t words = PROF_FRAMES_HEAD + count;
    uint32_t *to;

    prof_cpus[0].ticks++;
    if (prof_ring_full(&prof_cpus[0].ring)) {
        prof_sample_full(pc, tsc);
        return;
    }
    if (frames->mask + 1 - (frames->head - frames->tail) < words) {
        prof_ring_push(&prof_cpus[0].ring, pc, tsc, 0);
        return;
    }
    to = frames->words + (frames->head & frames->mask);
    memset(to, 0, PROF_FRAMES_HEAD * sizeof *to);
    for (uint32_t i = 0; i < count; i++)
        to[PROF_FRAMES_HEAD + i] = (uint32_t)callers[i];
    frames->head += words;
    prof_ring_push(&prof_cpus[0].ring, pc, tsc,
                   words | reason << PROF_WALK_STOP_SHIFT);
}

static inline void tick(uintptr_t pc, uint64_t tsc, const uintptr_t *callers,
                        uint32_t count)
{
    tick_stopped(pc, tsc, callers, count, 0);
}

#endif
