/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experiments are refused on several CPUs. What they would take there, a
 * virtual clock for each, is tried with three programs on two CPUs
 * (tests/causal/cpus_programs.h): they must see each other in the order of
 * virtual time, whenever the host runs which of them. With causal.blocks=N it
 * prints what tests/causal/cpus.py makes a table of.
 */

#include "guest/tap.h"

#include "causal/cpus_programs.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <prof/causal.h>
#include <prof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000u

static unsigned blocks;      /* of each row of the table; 0: a test */
static unsigned visits = 15; /* in each turn */
static uint32_t rounds_per_us;

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "causal.blocks") == 0)
        blocks = (unsigned)atoi(value);
    else if (strcmp(key, "causal.visits") == 0)
        visits = (unsigned)atoi(value);
    else
        return false;
    return true;
}

/* ---- the machine */

static unsigned machine_cpu(void)
{
    return cpu_number();
}

static uint64_t machine_tsc(void)
{
    return arch_tsc();
}

static void machine_pause(void)
{
    arch_pause();
}

__attribute__((noinline)) static void spin(uint32_t rounds)
{
    while (rounds-- != 0)
        __asm__ volatile("");
}

static void machine_compute(uint32_t ns)
{
    spin((uint32_t)((uint64_t)ns * rounds_per_us / NS_PER_US));
}

/* The best of some tries: the host has other work. */
static void measure_spin(void)
{
    enum { US = 1000, TRIES = 16 };
    const uint64_t cycles_per_us = clock_tsc_hz() / 1000000;

    rounds_per_us = 1;
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t began = arch_tsc(), cycles;
        uint32_t found;

        spin(US * rounds_per_us);
        cycles = arch_tsc() - began + 1;
        found = (uint32_t)(US * rounds_per_us * cycles_per_us / cycles);
        if (found > rounds_per_us)
            rounds_per_us = found;
    }
}

/* ---- blocks */

/* As it is and really faster, without clocks; and the same on them. What
 * changes at a steady rate meanwhile is the same for all. */
static void run_block(const struct program *program, const struct part *target,
                      uint32_t per_cent)
{
    static const unsigned order[] = {0, 1, 2, 3, 3, 2, 1, 0};
    static struct way ways[4];
    const uint32_t faster = CLOCKS_ONE / 100 * per_cent;
    struct turn turns[4] = {0};

    ways[0].part = ways[1].part = ways[2].part = ways[3].part = target;
    ways[1].really = ways[3].faster = faster;
    ways[2].clocked = ways[3].clocked = true;
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        programs_take_turn(program, &ways[order[i]], visits, &turns[order[i]]);
    way = &ways[0];
    if (blocks == 0)
        return;
    console_write("#", 1);
    for (unsigned i = 0; i < 4; i++) {
        char text[48];

        console_write(text,
                      (size_t)snprintf(text, sizeof text, " %llu %u",
                                       (unsigned long long)turns[i].cycles,
                                       turns[i].visits));
    }
    console_line(" %llu %u %s %s", (unsigned long long)turns[2].first, per_cent,
                 target->name, program->name);
}

static const struct program *running;
static bool second_ended;

static void on_end(void *context)
{
    (void)context;
    second_ended = true;
}

static void run_second(void *context)
{
    (void)context;
    programs_run_second(running);
    cpu_call(0, on_end, NULL);
}

static void run_blocks(const struct program *program)
{
    static const uint32_t speedups[] = {25, 50, 75};
    static const struct way none;

    programs_reset();
    way = &none;
    running = program;
    second_ended = false;
    cpu_call(1, run_second, NULL);
    for (unsigned i = 0; i < (blocks == 0 ? 1 : blocks); i++)
        for (unsigned j = 0; j < 6; j++)
            run_block(program, program->targets[j / 3], speedups[j % 3]);
    stopped = true;
    while (!second_ended)
        loop_wait();
}

static void check_refusal(void)
{
    static PROF_PROGRESS(point, "done");
    static PROF_TARGET(target, "F");
    const struct prof_causal_settings settings = {.tsc_hz = clock_tsc_hz()};

    prof_causal_add_progress(&point);
    prof_causal_add_target(&target);
    tap_is_equal(prof_causal_start(&settings), PROF_ECAUSAL_CPUS,
                 "experiments are refused");
    tap_ok(!prof_causal_running(), "none run");
}

int service_main(void)
{
    tap_plan(2 + PROGRAMS);
    check_refusal();
    measure_spin();
    for (unsigned i = 0; i < PROGRAMS; i++) {
        run_blocks(&programs[i]);
        tap_is_equal(clocks_out_of_order(), 0, programs[i].name);
    }
    return tap_end();
}
