/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task that never yields: the timer interrupt samples it all the same, on its
 * own stack, and no sample is lost until it ends. Others are late.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <kernel/task.h>

#define MS 200u
#define DIVISOR 1193u /* of the PIT at 1 kHz */
#define JITTER 10     /* samples more or less, for their period varies */

__attribute__((noinline)) static void spin(void)
{
    guest_spin((uint64_t)MS * GUEST_MS);
}

__attribute__((noinline)) static void middle(void)
{
    spin();
    __asm__ volatile("");
}

static uintptr_t endless(void *unused)
{
    (void)unused;
    task_yield();
    middle();
    return 0;
}

static uintptr_t patient(void *late_ns)
{
    uint64_t begin = clock_ns();

    task_await(promise_sleep(10 * NS_PER_MS));
    *(uint64_t *)late_ns = clock_ns() - begin - 10 * NS_PER_MS;
    return 0;
}

static bool within(uintptr_t address, uintptr_t function)
{
    return address >= function && address < function + 256;
}

/* Counts the samples of spin(), and those whose callers are all there. */
struct stacks {
    uint64_t all, complete;
};

static void look(const struct prof_stack_row *row, void *context)
{
    struct stacks *stacks = context;
    bool in_middle = false, in_endless = false;

    if (row->count == 0 || !within(row->addresses[0], (uintptr_t)spin))
        return;
    for (size_t i = 1; i < row->count; i++) {
        in_middle |= within(row->addresses[i], (uintptr_t)middle);
        in_endless |= within(row->addresses[i], (uintptr_t)endless);
    }
    stacks->all += row->samples;
    if (in_middle && in_endless)
        stacks->complete += row->samples;
}

int service_main(void)
{
    struct promise *tasks[2];
    struct prof_stats before, after;
    struct stacks stacks = {0, 0};
    uint64_t late_ns = 0;
    struct prof_row row;

    tap_plan(7);
    prof_drain();
    before = guest_stats();
    tasks[0] = task_start("patient", patient, &late_ns);
    tasks[1] = task_start("endless", endless, NULL);
    task_await(promise_join(tasks, 2, NULL));
    prof_drain();
    after = guest_stats();
    row = guest_row((uintptr_t)spin);
    tap_is_between((int64_t)row.samples,
                   (int64_t)guest_ticks_in(MS * GUEST_MS, DIVISOR) - JITTER,
                   (int64_t)guest_ticks_in(MS * GUEST_MS, DIVISOR) + JITTER,
                   "every sample is attributed to what it does");
    tap_ok(after.dropped == before.dropped, "none is lost");
    tap_is_equal((int64_t)guest_accounted(&after), (int64_t)after.ticks,
                 "each tick is in one account");
    prof_visit_stacks(look, &stacks);
    tap_ok(stacks.all >= MS - 2 * JITTER, "samples have stacks");
    tap_is_equal((int64_t)stacks.complete, (int64_t)stacks.all,
                 "which are complete");
    tap_is_equal((int64_t)(after.stopped[4] - before.stopped[4]), 0,
                 "no walk left the stack of the task");
    tap_is_between((int64_t)late_ns, (int64_t)(MS - 20) * 1000000,
                   (int64_t)(MS + 20) * 1000000,
                   "another task is late by as long");
    return tap_end();
}
