/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Overhead of a fixed amount of work, by sampling rate, divided among interrupt
 * and drain. The work makes calls eleven functions deep along eight paths in
 * turn, and drains when due, as the kernel's timer would.
 *
 * The work runs first with interrupts off, then with only the kernel's tick,
 * then sampled. The cost of one tick is measured in a short stretch without a
 * drain; the rest of the difference is the drains'.
 */

#include "growth.h"

#include <arch/cpu.h>
#include <prof/format.h>
#include <kernel/clock.h>
#include <kernel/service.h>

#define SLICES_PER_S 10000u
#define SLICE_ROUNDS 50000u /* of two instructions: 100 us */
#define LEVELS 10u
#define PER_MS 1000000u  /* instructions, which are nanoseconds */
#define CHECK_SLICES 30u /* so often is it asked whether a drain is due */
#define SHORT_TICKS 16u

#define LOOP(name)                                                             \
    static __attribute__((noinline)) void name(uint32_t rounds)                \
    {                                                                          \
        __asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds) : : "cc");         \
    }
LOOP(loop_0)
LOOP(loop_1)
LOOP(loop_2)
LOOP(loop_3)

static __attribute__((noinline)) void down_a(uint32_t more, uint32_t way);

static __attribute__((noinline)) void down_b(uint32_t more, uint32_t way)
{
    static void (*const loops[])(uint32_t) = {loop_0, loop_1, loop_2, loop_3};

    if (more == 0)
        loops[way % 4](SLICE_ROUNDS);
    else
        down_a(more - 1, way);
    __asm__ volatile("");
}

static void down_a(uint32_t more, uint32_t way)
{
    if (more == 0 || (more == 4 && way >= 4))
        down_b(more == 0 ? 0 : more - 1, way);
    else
        down_a(more - 1, way);
    __asm__ volatile("");
}

/* (slices) of the work; if it (drains), when that is due. */
static uint64_t work(uint32_t slices, bool drains)
{
    uint64_t begin = arch_tsc(), drained = begin;

    for (uint32_t i = 0; i < slices; i++) {
        down_a(LEVELS, i % 8);
        if (!drains || i % CHECK_SLICES != 0 ||
            arch_tsc() - drained < (uint64_t)prof_drain_ms() * PER_MS)
            continue;
        drained = arch_tsc();
        prof_drain();
    }
    return arch_tsc() - begin;
}

static uint64_t alone(uint32_t slices)
{
    bool on = arch_interrupts_save();
    uint64_t took = work(slices, false);

    arch_interrupts_restore(on);
    return took;
}

/* Slices in which SHORT_TICKS come, at (rate). */
static uint32_t short_slices(uint32_t rate)
{
    return SHORT_TICKS * SLICES_PER_S / rate + 1;
}

/* What a tick of the sampler's adds, kernel's ticks and drains apart, in
 * hundredths; (expected) is what the work takes alone. */
static uint64_t tick_cost(uint32_t slices, uint64_t expected,
                          uint64_t kernel_tick)
{
    uint64_t ticks, kernels, took;

    prof_drain();
    ticks = growth_stats().ticks;
    kernels = clock_ticks();
    took = work(slices, false) - expected;
    kernels = clock_ticks() - kernels;
    ticks = growth_stats().ticks - ticks;
    prof_drain();
    growth_must(ticks != 0, "ticks");
    return (took * 100 - kernels * kernel_tick) / ticks;
}

/* Of a million of (whole), in hundredths. */
static uint64_t share(uint64_t part, uint64_t whole)
{
    return part * 100000000 / whole;
}

/* Samples are asked for by the rate; one may come just before or after. */
static void emit_samples(uint32_t rate, uint64_t took,
                         const struct prof_stats *stats)
{
    uint64_t asked = took / 1000 * prof_rate_mhz() / 1000000000;

    growth_emit("rate_delivered", rate, stats->ticks * 10000 / asked);
    growth_emit("rate_short", rate,
                stats->ticks < asked ? (asked - stats->ticks) * 100 : 0);
    growth_emit("rate_dropped", rate, stats->dropped * 100);
    growth_emit("rate_missed", rate, stats->missed * 100);
    growth_emit("rate_cut", rate, stats->stopped[PROF_WALK_ROOM] * 100);
}

static void measure(uint32_t rate, uint64_t expected, uint64_t kernel_tick)
{
    uint64_t cost, took, ticks, kernels, interrupts, drains;
    uint64_t expected_short = alone(short_slices(rate));
    struct prof_stats stats;

    growth_must(prof_set_rate(rate) == 0 && prof_start() == 0, "the rate");
    work(growth_slices / 20, true); /* all is known from here on */
    cost = tick_cost(short_slices(rate), expected_short, kernel_tick);
    prof_drain();
    prof_reset();
    kernels = clock_ticks();
    took = work(growth_slices, true);
    kernels = clock_ticks() - kernels;
    stats = growth_stats();
    ticks = stats.ticks;
    interrupts = ticks * cost / 100;
    drains = took - expected - interrupts - kernels * kernel_tick / 100;
    prof_stop();
    growth_emit("rate_interrupt", rate, cost);
    growth_emit_each("rate_drain", rate, drains, ticks);
    growth_emit("rate_interrupt_share", rate, share(interrupts, took));
    growth_emit("rate_drain_share", rate, share(drains, took));
    growth_emit("rate_heap", rate, growth_heap() * 100);
    emit_samples(rate, took, &stats);
}

void growth_rate(const struct growth_points *points)
{
    uint64_t expected = alone(growth_slices), took, kernel_tick;
    uint64_t kernels = clock_ticks();

    took = work(growth_slices, false);
    kernels = clock_ticks() - kernels;
    kernel_tick = (took - expected) * 100 / kernels;
    growth_emit("rate_kernel", 100, kernel_tick);
    for (uint32_t i = 0; i < points->count; i++)
        measure(points->at[i], expected, kernel_tick);
}
