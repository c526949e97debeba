/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Interrupts stop the clock of the loop: their time is added to that in which
 * it stood still (clock.h). The sampler may interrupt them, and has added its
 * own time already.
 */

#include "loop/long_runs.h"
#include "loop/loop.h"

static struct prof_loop_state *const state = &prof_loop_state;

/* In one instruction for each half, since an NMI may add to it, too. */
static inline void add(uint64_t *sum, uint64_t value)
{
#ifdef __i386__
    prof_loop_half *half = (prof_loop_half *)sum;

    __asm__ volatile("addl %2, %0; adcl %3, %1"
                     : "+m"(half[0]), "+m"(half[1])
                     : "r"((uint32_t)value), "r"((uint32_t)(value >> 32))
                     : "cc");
#else
    __asm__ volatile("addq %1, %0" : "+m"(*sum) : "r"(value) : "cc");
#endif
}

void prof_loop_put_irq_enter(void)
{
    if (state->depth++ != 0)
        return;
    state->enter_away = prof_loop_away();
    state->enter_tsc = prof_loop_tsc();
}

void prof_loop_put_irq_exit(void)
{
    uint64_t cycles;

    if (state->depth == 0 || --state->depth != 0)
        return;
    cycles = prof_loop_tsc() - state->enter_tsc;
    cycles -= prof_loop_away() - state->enter_away;
    state->irqs++;
    if (__builtin_expect(cycles >= prof_noted_least, 0)) {
        state->long_irq_enter = state->enter_tsc;
        state->long_irq_exit = state->enter_tsc + cycles;
    }
    add(&state->irq_cycles, cycles);
    add(&prof_cpus[0].interrupt_cycles, cycles);
    add(&prof_cpus[0].observed_cycles, cycles);
}
