/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The producer's side in C: prof_sample() for kernels with a hook of their
 * own, and the path that is taken when the vector is full. The path of every
 * other tick is assembly: <width>/parasite.asm.
 */

#include "cpu.h"
#include "state.h"

struct prof_hot prof_hot;
struct prof_state prof_state;

/*
 * Since the vector is full nothing was stored in it, so the sample before this
 * one is either its newest entry or the last that came through here.
 */
void prof_sample_full(uintptr_t pc, uint64_t tsc)
{
    const struct prof_ring *ring = &prof_hot.ring;
    struct prof_spill *spill = &prof_hot.spill;
    uint64_t before = prof_entry_tsc(prof_ring_before(ring, ring->head));

    if (before < spill->last_tsc)
        before = spill->last_tsc;
    prof_spill_add(spill, pc, tsc - before);
    spill->last_tsc = tsc;
}

void prof_sample(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    uint64_t tsc = prof_tsc();
    uint32_t frames = 0;

    if (!prof_hot.enabled)
        return;
    if (prof_ring_full(&prof_hot.ring)) {
        prof_sample_full(pc, tsc);
    } else {
        if (prof_hot.depth != 0)
            frames = prof_walk(sp, fp);
        prof_ring_push(&prof_hot.ring, pc, tsc, frames);
    }
    prof_hot.interrupt_cycles += prof_tsc() - tsc;
}

/*
 * The pair that is not in force is written first and then put in force by one
 * store, so that a sample between any two steps sees a stack that exists.
 */
void prof_stack_set(uintptr_t begin, uintptr_t end)
{
    struct prof_stack_bounds *other = prof_hot.stack == &prof_hot.stacks[0]
                                          ? &prof_hot.stacks[1]
                                          : &prof_hot.stacks[0];
    const uintptr_t word = sizeof(uintptr_t);
    uintptr_t words = end > begin ? (end - begin) / word : 0;

    other->begin = words < 2 ? UINTPTR_MAX : begin;
    other->last_kept =
        words < PROF_FRAMES_KEPT ? 0 : end - PROF_FRAMES_KEPT * word;
    other->last_frame = words < 2 ? 0 : end / word - 2;
    __atomic_store_n(&prof_hot.stack, other, __ATOMIC_RELEASE);
}
