/* SPDX-License-Identifier: Apache-2.0 */

/* The producer in C: prof_sample(), for kernels with a hook of their own. With
 * the PIT as the source the interrupt is tick/<width>/parasite.asm. */

#include "base/cpu.h"
#include "sample/cpu_state.h"

#include <prof/config.h>
#include <prof/prof.h>
#include <stddef.h>

struct prof_cpu prof_cpus[PROF_CPU_STATES];

#if PROF_CPUS_MAX > 1
bool prof_cpu_is_first(void)
{
    return prof_cpu_here() == PROF_CPU_FIRST;
}
#endif

bool prof_running(void)
{
    return prof_cpu_here()->enabled;
}

void prof_sample(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    uint64_t tsc = prof_tsc();
    struct prof_cpu *cpu = prof_cpu_here();
    uint32_t frames = 0;

    if (!cpu->enabled)
        return;
    cpu->ticks++;
    if (prof_ring_full(&cpu->ring)) {
        prof_sample_full(pc, tsc);
    } else {
        if (PROF_WITH_CALLERS && cpu->depth != 0)
            frames = prof_walk(sp, fp);
        prof_ring_push(&cpu->ring, pc, tsc, frames);
    }
    if (PROF_WITH_BUILTIN && cpu->tick_drain != NULL &&
        --cpu->tick_drain_left == 0)
        cpu->tick_drain_left = cpu->tick_drain();
    cpu->interrupt_cycles += prof_tsc() - tsc;
}

#if PROF_WITH_USER
/* The stub does the same. */
void prof_sample_user(void)
{
    struct prof_cpu *cpu = prof_cpu_here();

    cpu->user_seen = true;
    prof_sample(PROF_USER_BASE + cpu->space, 0, 0);
}

void prof_space_set(uint32_t number)
{
    prof_cpu_here()->space = (uint8_t)(number < PROF_SPACES ? number : 0);
}
#endif

#if PROF_WITH_CALLERS
void prof_stack_bounds_set(struct prof_stack_bounds *bounds, uintptr_t begin,
                           uintptr_t end)
{
    const uintptr_t word = sizeof(uintptr_t);
    uintptr_t words = end > begin ? (end - begin) / word : 0;

    bounds->begin = words < 2 ? UINTPTR_MAX : begin;
    bounds->last_kept =
        words < PROF_FRAMES_KEPT ? 0 : end - PROF_FRAMES_KEPT * word;
    bounds->last_frame = words < 2 ? 0 : end / word - 2;
}
#endif

/* The spare bounds are written first and then selected with a single store: a
 * sample at any moment sees the bounds of a stack that exists. */
void prof_stack_set(uintptr_t begin, uintptr_t end)
{
    struct prof_cpu *cpu = prof_cpu_here();
    struct prof_stack_bounds *other =
        &cpu->stacks[cpu->stack == &cpu->stacks[0] ? 1 : 0];

    if (!PROF_WITH_CALLERS) /* nothing is walked */
        return;
    cpu->unknown_stack = false;
    prof_stack_bounds_set(other, begin, end);
    __atomic_store_n(&cpu->stack, other, __ATOMIC_RELEASE);
    cpu->unknown_stack = begin == end;
}
