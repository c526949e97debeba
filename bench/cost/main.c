/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the profiler costs, in instructions.
 *
 * Run with QEMU's -icount shift=0,sleep=off -rtc clock=vm, where the TSC moves
 * on by one for each instruction and a run repeats to the instruction. A loop
 * of known length runs with interrupts off and then under each handler; what
 * it takes longer, divided by the ticks that came, is the cost of one tick.
 *
 * Each line "bench NAME VALUE" is for bench/run.sh, which draws the table.
 */

#include "guest/guest.h"
#include "handlers.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/service.h>
#include <pit.h>
#include <prof/prof.h>
#include <prof/symbols.h>
#include <stdint.h>

#define ROUNDS 500000000u /* of the loop: a second of guest time */
#define LOOKUPS 100000u
#define LOOP_SHORT 25000000u /* 500 ticks at 10 kHz: the vector holds them */
#define SLED_ROUNDS 750u
#define STACK_ROUNDS (ROUNDS / 4) /* 25 ticks: their frames find room */
#define STACK_LEVELS 110u         /* calls on the stack, and those of boot */

void bench_emit(const char *name, uint64_t hundredths)
{
    console_line("bench %s %u.%02u", name, (unsigned)(hundredths / 100),
                 (unsigned)(hundredths % 100));
}

static uint32_t levels; /* calls between the measuring code and the loop */

static __attribute__((noinline)) void call_down(uint32_t more, uint32_t rounds)
{
    if (more == 0)
        bench_loop(rounds);
    else
        call_down(more - 1, rounds);
    __asm__ volatile("");
}

static void loop(uint32_t rounds)
{
    call_down(levels, rounds);
}

/* Instructions that the loop takes by itself. */
static uint64_t loop_alone(uint32_t rounds)
{
    bool on = arch_interrupts_save();
    uint64_t begin = arch_tsc();

    loop(rounds);
    begin = arch_tsc() - begin;
    arch_interrupts_restore(on);
    return begin;
}

static uint64_t kernel_ticks(void)
{
    return clock_ticks();
}

static uint64_t bare_ticks(void)
{
    return bench_ticks;
}

static uint64_t profiler_ticks(void)
{
    struct prof_stats stats;

    prof_stats(&stats);
    return stats.ticks;
}

/* Instructions per tick, in hundredths, as (ticks) counts them. */
static uint64_t cost_of_tick(uint64_t (*ticks)(void), uint32_t rounds)
{
    uint64_t alone = loop_alone(rounds);
    uint64_t first = ticks();
    uint64_t begin = arch_tsc();

    loop(rounds);
    begin = arch_tsc() - begin;
    return (begin - alone) * 100 / (ticks() - first);
}

/* The same with (handler) in the timer's gate. */
static uint64_t cost_of_handler(void (*handler)(void))
{
    uintptr_t kernels = guest_handler();
    uint64_t cost;

    guest_set_handler((uintptr_t)handler);
    cost = cost_of_tick(bare_ticks, ROUNDS);
    guest_set_handler(kernels);
    return cost;
}

/* Instructions for each sample drained, in hundredths, after (work) ran. */
static uint64_t cost_of_drain(void (*work)(uint32_t), uint32_t rounds)
{
    uint64_t before, ticks, begin;
    bool on;

    prof_drain();
    before = profiler_ticks();
    work(rounds);
    ticks = profiler_ticks() - before;
    on = arch_interrupts_save();
    begin = arch_tsc();
    prof_drain();
    begin = arch_tsc() - begin;
    arch_interrupts_restore(on);
    return begin * 100 / ticks;
}

static uint64_t cost_of_lookup(void)
{
    struct prof_symbol symbol;
    uintptr_t pc = (uintptr_t)service_main;
    bool on = arch_interrupts_save();
    uint64_t begin = arch_tsc();

    for (uint32_t i = 0; i < LOOKUPS; i++)
        prof_symbol_find(pc + i % 4096, &symbol);
    begin = arch_tsc() - begin;
    arch_interrupts_restore(on);
    return begin * 100 / LOOKUPS;
}

/* A name out of the table, of every entry in turn. */
static uint64_t cost_of_name(void)
{
    struct prof_symbol symbol = {0};
    static char name[1024];
    bool on = arch_interrupts_save();
    uint64_t begin = arch_tsc();

    for (uint32_t i = 0; i < LOOKUPS; i++) {
        symbol.index = i % prof_symbols_count();
        prof_symbol_name(&symbol, name, sizeof name);
    }
    begin = arch_tsc() - begin;
    arch_interrupts_restore(on);
    return begin * 100 / LOOKUPS;
}

static uint64_t cost_of_report(void)
{
    bool on = arch_interrupts_save();
    struct prof_stats before, after;

    prof_stats(&before);
    prof_report();
    prof_stats(&after);
    arch_interrupts_restore(on);
    return (after.report_cycles - before.report_cycles) * 100;
}

/* What a sample with (frames) callers adds to the kernel's tick. */
static uint64_t cost_of_stack(uint64_t kernels, uint32_t frames)
{
    prof_set_depth(frames);
    prof_reset();
    return cost_of_tick(profiler_ticks, STACK_ROUNDS) - kernels;
}

static uint64_t with_eleven; /* what a sample with 11 callers adds */

/* At the kernel's own rate, on a deep stack that is cut at the depth. */
static void walks(uint64_t kernels)
{
    uint64_t one, many, hundred, drain;

    prof_set_rate(1);
    prof_start();
    levels = STACK_LEVELS;
    one = cost_of_stack(kernels, 1);
    bench_emit("stack_1", one);
    with_eleven = cost_of_stack(kernels, 11);
    bench_emit("stack_11", with_eleven);
    many = cost_of_stack(kernels, 64);
    bench_emit("stack_64", many);
    hundred = cost_of_stack(kernels, 100);
    bench_emit("frame", (hundred - one) / 99);
    prof_set_depth(11);
    prof_set_rate(1000);
    cost_of_drain(loop, LOOP_SHORT * 4);
    drain = cost_of_drain(loop, LOOP_SHORT * 4);
    bench_emit("drain_stack_11", drain);
    bench_emit("whole_stack_11", with_eleven + drain);
    prof_set_depth(64);
    cost_of_drain(loop, LOOP_SHORT);
    drain = cost_of_drain(loop, LOOP_SHORT);
    bench_emit("drain_stack_64", drain);
    bench_emit("whole_stack_64", many + drain);
    levels = 0;
    prof_set_depth(0);
    prof_stop();
    prof_reset();
}

/* What the parasite adds, at the kernel's own rate and at ten times that.
 * Returns the cost of a flat sample. */
static uint64_t interrupt_path(void)
{
    uint64_t kernels = cost_of_tick(kernel_ticks, ROUNDS), with, faster;

    bench_emit("kernel_tick", kernels);
    walks(kernels);
    prof_set_rate(1);
    prof_start();
    with = cost_of_tick(profiler_ticks, ROUNDS);
    bench_emit("flat_sample", with - kernels);
    prof_set_rate(1000);
    prof_reset();
    faster = cost_of_tick(profiler_ticks, ROUNDS);
    /* nine in ten are the sampler's own, the tenth is the kernel's, too */
    bench_emit("own_tick", (faster * 10 - with) / 9);
    prof_set_rate(10000);
    bench_loop(ROUNDS / 2);
    faster = cost_of_tick(profiler_ticks, ROUNDS / 4);
    bench_emit("full_vector", (faster * 100 - with) / 99);
    prof_stop();
    prof_reset();
    return with - kernels;
}

/*
 * The most that an interrupt uses of the interrupted stack: what the CPU
 * pushes, the parasite, and the acknowledgement, prof_sample_full() or the
 * drain in the tick that it calls. Elsewhere the loop drains, which is what is
 * measured there.
 * The bare handler stands where the kernel's would be, so that it is not that
 * one which is measured.
 */
static uint32_t stack_used(void)
{
    uintptr_t kernels = guest_handler();
    uint32_t used;

    guest_set_handler((uintptr_t)bench_handler_bare);
    (void)prof_option("prof.tick_drains=on");
    prof_set_depth(64);
    prof_set_rate(10000);
    prof_start();
    used = bench_stack_loop(ROUNDS); /* long enough to fill the vector */
    prof_stop();
    prof_reset();
    (void)prof_option("prof.tick_drains=off");
    guest_set_handler(kernels);
    return used;
}

int service_main(void)
{
    uint64_t flat, drain, sled, report;

    prof_set_depth(0);
    bench_emit("bare_handler", cost_of_handler(bench_handler_bare));
    bench_emit("storing_handler", cost_of_handler(bench_handler_storing));
    flat = interrupt_path();
    prof_start(); /* printing would be sampled, and be rows of the report */
    cost_of_drain(bench_loop, LOOP_SHORT);
    drain = cost_of_drain(bench_loop, LOOP_SHORT);
    sled = cost_of_drain(bench_sled, SLED_ROUNDS);
    report = cost_of_report();
    prof_stop();
    bench_emit("drain_known", drain);
    bench_emit("whole_flat", flat + drain);
    bench_emit("drain_new", sled);
    bench_emit("whole_half_new", with_eleven + sled);
    bench_emit("lookup", cost_of_lookup());
    bench_emit("name", cost_of_name());
    bench_emit("report", report);
    prof_reset();
    bench_emit("stack", stack_used() * 100ull);
    bench_worst();
    bench_emit("memory_given", PROF_MEMORY_DEFAULT * 100ull);
    bench_emit("symbols", prof_symbols_count() * 100ull);
    return 0;
}
