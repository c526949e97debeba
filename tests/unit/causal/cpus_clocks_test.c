/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction beside truth on two CPUs, in simulated time: programs of which a
 * part is faster on a virtual clock for each CPU, beside the same in which it
 * really is, and beside one clock that is about the first CPU. Of both CPUs
 * that one runs whose time is less.
 */

#include "../unit.h"

#include <math.h>
#include <ucontext.h>

#include "../../causal/cpus_programs.h"

#define VISITS 1000u
/* Percentage points of the gain. */
#define ERROR_MAX 0.3
#define WRONG 3

#define CYCLES_PER_US 2000u
#define READ_CYCLES 20u /* of the clock */
#define PAUSE_CYCLES 400u
#define STACK_BYTES 65536u

static struct {
    ucontext_t contexts[CLOCKS];
    char stack[STACK_BYTES]; /* of the second */
    uint64_t times[CLOCKS];
    unsigned runs;
    bool both; /* else only the first */
} machine;

static unsigned machine_cpu(void)
{
    return machine.runs;
}

static void go_to(unsigned cpu)
{
    const unsigned from = machine.runs;

    machine.runs = cpu;
    swapcontext(&machine.contexts[from], &machine.contexts[cpu]);
}

static void advance(uint64_t cycles)
{
    const unsigned cpu = machine.runs;

    machine.times[cpu] += cycles;
    if (machine.both && machine.times[1 - cpu] < machine.times[cpu])
        go_to(1 - cpu);
}

static uint64_t machine_tsc(void)
{
    advance(READ_CYCLES);
    return machine.times[machine.runs];
}

static void machine_pause(void)
{
    advance(PAUSE_CYCLES);
}

static void machine_compute(uint32_t ns)
{
    advance((uint64_t)ns * CYCLES_PER_US / 1000);
}

/* ---- a run */

static const struct program *running;

static void second(void)
{
    programs_run_second(running);
    machine.both = false;
    go_to(0);
}

static struct turn run(const struct program *program, const struct way *now)
{
    struct turn turn = {0};

    programs_reset();
    running = program;
    way = now;
    machine.times[0] = machine.times[1] = CYCLES_PER_US;
    machine.runs = 0;
    machine.both = true;
    getcontext(&machine.contexts[1]);
    machine.contexts[1].uc_stack.ss_sp = machine.stack;
    machine.contexts[1].uc_stack.ss_size = STACK_BYTES;
    makecontext(&machine.contexts[1], second, 0);
    programs_take_turn(program, now, VISITS, &turn);
    stopped = true;
    while (machine.both)
        advance(PAUSE_CYCLES);
    assert_int_equal(clocks_out_of_order(), 0);
    return turn;
}

static double period(const struct turn *turn)
{
    return (double)turn->cycles / turn->visits;
}

/* By how many per cent it is faster. */
static double gain(const struct turn *normal, const struct turn *faster)
{
    return 100 * (1 - period(faster) / period(normal));
}

/* What one clock says is the share of (target) in the time of the first CPU. */
static void compare(const struct program *program, const struct part *target,
                    uint32_t per_cent, unsigned *wrong)
{
    const uint32_t faster = CLOCKS_ONE / 100 * per_cent;
    const struct way ways[] = {
        {.part = target},
        {.part = target, .really = faster},
        {.part = target, .clocked = true},
        {.part = target, .clocked = true, .faster = faster},
    };
    struct turn turns[4];
    double truth, predicted, by_one;

    for (unsigned i = 0; i < 4; i++)
        turns[i] = run(program, &ways[i]);
    truth = gain(&turns[0], &turns[1]);
    predicted = gain(&turns[2], &turns[3]);
    by_one = (double)turns[2].first / (double)turns[2].cycles * per_cent;
    printf("# %-17s %-7s %u %%: truth %6.2f predicted %6.2f, by one clock "
           "%6.2f, slower %.2f\n",
           program->name, target->name, per_cent, truth, predicted, by_one,
           -gain(&turns[0], &turns[2]));
    assert_true(fabs(predicted - truth) <= ERROR_MAX);
    *wrong += fabs(by_one - truth) > WRONG;
}

TEST(predictions_are_true_and_those_of_one_clock_are_not)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < PROGRAMS; i++)
        for (unsigned j = 0; j < 2; j++)
            for (uint32_t per_cent = 25; per_cent <= 75; per_cent += 25)
                compare(&programs[i], programs[i].targets[j], per_cent, &wrong);
    assert_true(wrong >= 10);
}
