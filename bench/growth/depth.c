/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Cost of a sample in the interrupt, by the number of callers recorded; with
 * real timer ticks, on a stack deeper than every point.
 */

#include "growth.h"

#include <arch/cpu.h>

#define LEVELS 132u      /* more than any sample carries */
#define ROUNDS 14000000u /* of two instructions: 28 ticks at 1 kHz */
#define PAINTED 2048u    /* bytes below the stack that are looked at */
#define PAINT 0x5ca1ab1eu

#ifdef __x86_64__
#define STACK_POINTER "rsp"
#else
#define STACK_POINTER "esp"
#endif

static __attribute__((noinline)) void call_down(uint32_t more,
                                                void (*end)(void))
{
    if (more == 0)
        end();
    else
        call_down(more - 1, end);
    __asm__ volatile("");
}

static void loop(void)
{
    uint32_t rounds = ROUNDS;

    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds) : : "cc");
}

static uint64_t loop_takes(void)
{
    uint64_t begin = arch_tsc();

    call_down(LEVELS, loop);
    return arch_tsc() - begin;
}

/* Instructions for a tick with (depth) callers, in hundredths. */
static uint64_t tick_cost(uint32_t depth)
{
    bool on = arch_interrupts_save();
    uint64_t alone = loop_takes(), ticks, took;

    arch_interrupts_restore(on);
    growth_must(prof_set_depth(depth) == 0, "the depth");
    prof_drain();
    ticks = growth_stats().ticks;
    took = loop_takes() - alone;
    ticks = growth_stats().ticks - ticks;
    growth_must(ticks != 0 && growth_stats().dropped == 0, "ticks");
    return took * 100 / ticks;
}

static uint32_t stack_used;

/* Paints what lies below the stack, and looks how far down ticks have come. */
static void paint_and_loop(void)
{
    volatile uint32_t *below, *at;
    uint32_t rounds = ROUNDS;
    bool on = arch_interrupts_save();
    uintptr_t sp;

    __asm__ volatile("mov %%" STACK_POINTER ", %0" : "=r"(sp));
    below = (volatile uint32_t *)(sp & ~(uintptr_t)7);
    for (at = below - PAINTED / 4; at < below; at++)
        *at = PAINT;
    __asm__ volatile("sti\n1: dec %0\njnz 1b\ncli"
                     : "+r"(rounds)
                     :
                     : "cc", "memory");
    for (at = below - PAINTED / 4; at < below && *at == PAINT;)
        at++;
    stack_used = (uint32_t)(below - at) * 4;
    arch_interrupts_restore(on);
}

static void measure(uint32_t depth)
{
    uint64_t flat, with;

    growth_must(prof_set_rate(1000) == 0 && prof_start() == 0, "the rate");
    flat = tick_cost(0);
    with = tick_cost(depth);
    prof_drain();
    call_down(LEVELS, paint_and_loop);
    prof_stop();
    growth_emit("depth_sample", depth, with);
    growth_emit("depth_frame", depth, (with - flat) / depth);
    growth_emit("depth_stack", depth, stack_used * 100);
}

void growth_depth(const struct growth_points *points)
{
    for (uint32_t i = 0; i < points->count; i++)
        measure(points->at[i]);
}
