/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A sample may come between any two instructions of a run or a pause, as an
 * NMI. Its time is in no run, and is taken off no other run instead.
 */

#include "../unit.h"

#include "../single_step.h"
#include "loop/loop.h"
#include "sample/cpu_state.h"

#include <prof/loop_stats.h>
#include <signal.h>

#define BYTES (64 * PROF_LOOP_SITE_BYTES)
#define STEP_CYCLES 1u       /* of an instruction */
#define SAMPLE_CYCLES 10000u /* more than all of them together */
#define APART 300u           /* instructions from one sample to the next */

static void *memory;
static uint32_t until;   /* instructions until the next sample */
static uint32_t samples; /* so far */

static void take_sample(void)
{
    prof_loop_hosted_tsc += SAMPLE_CYCLES;
    prof_cpus[0].interrupt_cycles += SAMPLE_CYCLES;
    samples++;
}

static void on_trap(int signal)
{
    (void)signal;
    prof_loop_hosted_tsc += STEP_CYCLES;
    if (--until != 0)
        return;
    take_sample();
    until = APART;
}

static void begin(void)
{
    memory = malloc(BYTES);
    prof_loop_hosted_tsc = 1000;
    samples = 0;
    prof_cpus[0].interrupt_cycles = prof_cpus[0].taken_cycles = 0;
    assert_int_equal(prof_loop_open(memory, BYTES, 1000000), 0);
}

static void end(void)
{
    prof_loop_forget();
    free(memory);
}

static uint64_t longest;

static void on_row(const struct prof_loop_row *row, void *unused)
{
    (void)unused;
    if (row->longest_cycles > longest)
        longest = row->longest_cycles;
}

/* A run of a task and, in it, one of a callback, with samples after (before)
 * instructions and from then on. A sample before each of the two has them begin
 * with a rebase. */
static void run_once(struct prof_loop_task *task, struct prof_trace_name *name,
                     uint32_t before)
{
    struct prof_loop_frame frame;

    prof_loop_wake(task);
    take_sample();
    until = before;
    STEP_ON();
    prof_loop_run(task);
    prof_loop_begin(&frame, name);
    prof_loop_leave(&frame);
    prof_loop_pause(task);
    STEP_OFF();
}

FIXTURE(begin, end);

TEST(a_sample_may_come_between_any_two_instructions)
{
    static struct prof_trace_name site = {.text = "task"};
    static struct prof_trace_name name = {.text = "callback"};
    struct sigaction action = {.sa_handler = on_trap}, old;
    struct prof_loop_task task = {0};
    struct prof_loop_account account;

    prof_loop_create(&task, &site, 0);
    sigaction(SIGTRAP, &action, &old);
    for (uint32_t before = 1; before <= APART; before++)
        run_once(&task, &name, before);
    sigaction(SIGTRAP, &old, NULL);
    assert_true(samples > 3 * APART / 2); /* at least half of runs had one */

    prof_loop_visit(on_row, NULL);
    assert_in_range(longest, 1, SAMPLE_CYCLES - 1);
    prof_loop_account(&account);
    assert_int_equal(account.sampler_cycles, (uint64_t)samples * SAMPLE_CYCLES);
    assert_int_equal(account.wall_cycles,
                     account.tasks_cycles + account.callbacks_cycles +
                         account.loop_cycles + account.sampler_cycles);
}
