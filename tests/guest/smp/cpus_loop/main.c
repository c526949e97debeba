/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of each CPU's event loop, of work whose counts are known: on
 * CPU n a task creates 3 + n others at a site that all CPUs share, and on odd
 * ones one more at a site of theirs. Nothing here depends on how fast the host
 * is, nor on when it runs which CPU.
 */

#include "guest/tap.h"

#include <arch/cpu.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <prof/error.h>
#include <prof/loop_stats.h>
#include <string.h>

#define LEAST 3u
#define YIELDS 20u

static volatile unsigned finished;

static void on_done(void *context)
{
    (void)context;
    finished++;
}

static unsigned workers_of(unsigned cpu)
{
    return LEAST + cpu;
}

/* ---- the work */

static uintptr_t worker(void *context)
{
    (void)context;
    for (unsigned i = 0; i < YIELDS; i++)
        task_yield();
    return 0;
}

static uintptr_t boss(void *context)
{
    struct promise *promises[LEAST + ARCH_CPUS_MAX];
    unsigned count = workers_of(cpu_number());

    (void)context;
    for (unsigned i = 0; i < count; i++)
        promises[i] = task_start("worker", worker, NULL);
    for (unsigned i = 0; i < count; i++) {
        task_await(promises[i]);
        promise_free(promises[i]);
    }
    if (cpu_number() % 2 != 0)
        promise_free(task_start("odd", worker, NULL));
    cpu_call(0, on_done, NULL);
    return 0;
}

static void start(void *context)
{
    (void)context;
    promise_free(task_start_sized("boss", boss, NULL, TASK_STACK_MAX));
}

static void work_on_all(void)
{
    finished = 0;
    for (unsigned i = 0; i < cpu_count(); i++)
        cpu_call(i, start, NULL);
    while (finished < cpu_count())
        loop_wait();
}

/* ---- what was counted */

/* The rows that are asked for, of one CPU, and sums over all of it. */
struct found {
    struct prof_loop_row boss, worker, odd;
    struct prof_loop_account account;
    uint64_t own[PROF_LOOP_FUTURES + 1]; /* by kind */
    uint64_t contexts_own, runs_binned;
};

static void find(const struct prof_loop_row *row, void *context)
{
    struct found *found = context;

    found->own[row->kind] += row->self_cycles;
    if (strcmp(row->site->text, "boss") == 0)
        found->boss = *row;
    if (strcmp(row->site->text, "worker") == 0)
        found->worker = *row;
    if (strcmp(row->site->text, "odd") == 0)
        found->odd = *row;
}

static void add_context(const struct prof_loop_context *node, void *context)
{
    struct found *found = context;

    found->contexts_own += node->self_cycles;
}

static void add_bucket(uint64_t low, uint64_t high, uint64_t count,
                       void *context)
{
    struct found *found = context;

    (void)low;
    (void)high;
    found->runs_binned += count;
}

static bool read_cpu(unsigned cpu, struct found *found)
{
    bool any = prof_loop_read_cpu(cpu);

    *found = (struct found){0};
    if (any) {
        prof_loop_account(&found->account);
        prof_loop_visit(find, found);
        prof_loop_contexts(add_context, found);
        prof_loop_buckets(found->worker.number, PROF_LOOP_RUN, add_bucket,
                          found);
    }
    (void)prof_loop_read_cpu(0);
    return any;
}

/* That CPU may not run now, and the last of its tasks may not have ended. */
static void read_ended(unsigned cpu, struct found *found)
{
    while (!read_cpu(cpu, found) || found->boss.resolved != 1 ||
           found->worker.resolved != workers_of(cpu) ||
           found->odd.resolved != cpu % 2)
        loop_poll();
}

static bool adds_up(const struct found *found)
{
    const struct prof_loop_account *account = &found->account;

    return account->wall_cycles ==
               account->tasks_cycles + account->callbacks_cycles +
                   account->others_cycles + account->loop_cycles +
                   account->profiler_cycles + account->idle_cycles +
                   account->interrupts_cycles + account->sampler_cycles +
                   account->stolen_cycles &&
           account->wall_cycles != 0;
}

/* The first CPU's loop is what reads, one after the other. */
static bool rows_are_parts(unsigned cpu, const struct found *found)
{
    const struct prof_loop_account *account = &found->account;

    return found->own[PROF_LOOP_TASKS] == account->tasks_cycles &&
           found->own[PROF_LOOP_CALLBACKS] == account->callbacks_cycles &&
           (cpu == 0 || found->own[PROF_LOOP_LOOP] == account->loop_cycles) &&
           found->own[PROF_LOOP_IDLE] == account->idle_cycles;
}

/* How many CPUs are as they must be. */
static struct {
    unsigned calls, runs, accounts, rows, trees, numbers, histograms;
} good;

static void check(unsigned cpu, struct found *found)
{
    static uint32_t number;
    uint64_t own = 0;
    unsigned workers = workers_of(cpu);

    if (cpu == 0)
        number = found->worker.number;
    for (unsigned i = 0; i <= PROF_LOOP_FUTURES; i++)
        own += found->own[i];
    good.calls += found->boss.calls == 1 && found->worker.calls == workers &&
                  found->odd.calls == cpu % 2 && found->worker.pending == 0;
    good.runs +=
        found->worker.sums[PROF_LOOP_RUN].count == workers * (YIELDS + 1u);
    good.accounts += adds_up(found);
    good.rows += rows_are_parts(cpu, found);
    good.trees += (cpu == 0 || found->contexts_own == own) &&
                  found->boss.total_cycles == found->boss.self_cycles +
                                                  found->worker.self_cycles +
                                                  found->odd.self_cycles;
    good.numbers += found->worker.number == number;
    good.histograms +=
        found->runs_binned == found->worker.sums[PROF_LOOP_RUN].count;
}

static void check_all(void)
{
    struct found found;

    memset(&good, 0, sizeof good);
    for (unsigned i = 0; i < cpu_count(); i++) {
        read_ended(i, &found);
        check(i, &found);
    }
}

static void each(unsigned count, const char *what)
{
    tap_is_equal(count, cpu_count(), what);
}

static void counts(void)
{
    work_on_all();
    check_all();
    each(good.calls, "tasks are counted on the CPU that they are of");
    each(good.runs, "all of their runs are");
    each(good.accounts, "each CPU's account adds up to the cycle");
    each(good.rows, "its parts are the rows of its sites");
    each(good.trees, "so is the tree");
    each(good.numbers, "a site has the same number on all CPUs");
    each(good.histograms, "each CPU has histograms of its own");
}

/* ---- a CPU that does not come to a turn */

static volatile bool holds, let_go;

static void hog(void *context)
{
    struct prof_loop_account account;

    (void)context;
    holds = true;
    do
        prof_loop_account(&account);
    while (account.freezes == 0 || !let_go);
    cpu_call(0, on_done, NULL);
}

static void holding(unsigned cpu)
{
    struct found before, during, again, after;

    while (!read_cpu(cpu, &before))
        loop_poll();
    finished = 0;
    cpu_call(cpu, hog, NULL);
    while (!holds)
        loop_poll();
    tap_ok(read_cpu(cpu, &during), "of a loop that is held there is a copy");
    tap_ok(during.account.wall_cycles >= before.account.wall_cycles &&
               read_cpu(cpu, &again) &&
               again.account.wall_cycles == during.account.wall_cycles,
           "which is the last");
    let_go = true;
    while (finished == 0)
        loop_wait();
    do
        (void)read_cpu(cpu, &after);
    while (after.account.wall_cycles <= before.account.wall_cycles);
    tap_ok(after.account.freezes > before.account.freezes,
           "the guard has reported it");
}

/* ---- */

static void resets(void)
{
    struct found found;
    unsigned empty = 0;

    prof_loop_reset();
    for (unsigned i = 0; i < cpu_count(); i++) {
        while (!read_cpu(i, &found))
            loop_poll();
        empty += found.worker.calls == 0 && found.boss.calls == 0 &&
                 found.worker.sums[PROF_LOOP_RUN].count == 0;
    }
    each(empty, "a reset is one of all CPUs");
    work_on_all();
    check_all();
    each(good.calls, "which count again");
    each(good.accounts, "and have accounts that add up");
}

static void refusals(void)
{
    static uint64_t memory[1];

    tap_is_equal(prof_loop_open_cpu(1, memory), PROF_ESTATE,
                 "a CPU has its memory once");
    tap_is_equal(prof_loop_open_cpu(0, memory), PROF_EVALUE,
                 "the first one has its own");
    tap_is_equal(prof_loop_open_cpu(cpu_count(), memory), PROF_EVALUE,
                 "others there are none");
    tap_ok(!prof_loop_read_cpu(cpu_count()) && prof_loop_read_cpu(0),
           "nor is there anything of them");
}

int service_main(void)
{
    tap_plan(17);
    counts();
    holding(cpu_count() - 1);
    resets();
    refusals();
    return tap_end();
}
