/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs whose occupancy of the event loop is known. do=hog: a task holds the
 * loop for a while. do=exact: tasks within each other, of changing lengths, one
 * of which runs the loop itself from time to time. A plugin counts their
 * functions work_NAME() (tests/loop).
 */

#include "guest/guest.h"
#include "guest/word.h"
#include "guest/wraps.h"

#include <kernel/console.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <prof/loop_stats.h>
#include <string.h>

#define HOG_MS 250u
#define ROUNDS 150u

/* ---- memory for the profiler */

static unsigned allocations;

void *__wrap_prof_port_alloc(size_t bytes)
{
    allocations++;
    return __real_prof_port_alloc(bytes);
}

/* ---- hog */

__attribute__((noinline)) static void burn(void)
{
    guest_spin((uint64_t)HOG_MS * GUEST_MS);
    __asm__ volatile("");
}

__attribute__((noinline)) static void middle(void)
{
    burn();
    __asm__ volatile("");
}

static uintptr_t hog(void *unused)
{
    (void)unused;
    task_yield();
    middle();
    task_yield();
    middle(); /* another run: reported again */
    return 0;
}

static uintptr_t starter(void *unused)
{
    (void)unused;
    return task_await(task_start("hog", hog, NULL)).value;
}

/* ---- exact */

/* A number of instructions that changes from call to call. */
static inline void turn_around(unsigned turns)
{
    static unsigned calls;

    for (unsigned i = 0; i < turns * 50 + calls % 97; i++)
        __asm__ volatile("");
    calls++;
}

#define WORK(name, turns)                                                      \
    __attribute__((noinline)) static void work_##name(void)                    \
    {                                                                          \
        turn_around(turns);                                                    \
    }
WORK(parent, 10)
WORK(child, 100)
WORK(grandchild, 1000)
WORK(ticker, 5)

static unsigned ticks;

static void ticker(void *unused)
{
    (void)unused;
    work_ticker();
    ticks++;
}

/* A task that runs the loop itself, until the ticker was called in it. The
 * kernel has no call for that; so nothing else may become due. */
static void run_nested(void)
{
    unsigned before = ticks;
    struct prof_loop_frame frame;
    bool held = loop_hold(false);

    prof_loop_nest(&frame);
    while (ticks == before)
        loop_wait();
    prof_loop_leave(&frame);
    loop_hold(held);
}

static uintptr_t grandchild(void *unused)
{
    work_grandchild();
    task_await(promise_sleep(NS_PER_MS));
    work_grandchild();
    return (uintptr_t)unused;
}

static uintptr_t child(void *number)
{
    struct promise *promise;

    work_child();
    if ((uintptr_t)number % 3 == 0)
        task_yield();
    promise = task_start("grandchild", grandchild, number);
    work_child();
    task_await(promise);
    work_child();
    return 0;
}

static uintptr_t parent(void *unused)
{
    (void)unused;
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        struct promise *promise;

        work_parent();
        if (i % 10 == 0)
            run_nested();
        promise = task_start("child", child, (void *)i);
        work_parent();
        task_await(promise);
    }
    work_parent();
    return 0;
}

static void print(const struct prof_loop_row *row, void *unused)
{
    (void)unused;
    console_line("site %s own %llu total %llu runs %llu calls %llu pending %u",
                 row->site->text, (unsigned long long)row->self_cycles,
                 (unsigned long long)row->total_cycles,
                 (unsigned long long)row->sums[PROF_LOOP_RUN].count,
                 (unsigned long long)row->calls, (unsigned)row->pending);
}

static void print_account(void)
{
    struct prof_loop_account account;

    prof_loop_account(&account);
    console_line(
        "account %llu",
        (unsigned long long)(account.wall_cycles - account.tasks_cycles -
                             account.callbacks_cycles - account.others_cycles -
                             account.loop_cycles - account.profiler_cycles -
                             account.idle_cycles - account.interrupts_cycles -
                             account.sampler_cycles));
    console_line("cost %llu", (unsigned long long)account.own_cycles);
}

int service_main(void)
{
    static struct loop_timer timer;
    unsigned at_boot = allocations;

    if (guest_is("hog")) {
        task_await(task_start("starter", starter, NULL));
        return 0;
    }
    loop_every(&timer, NS_PER_MS, ticker, NULL);
    task_await(task_start("parent", parent, NULL));
    prof_loop_visit(print, NULL);
    print_account();
    console_line("allocations %u at boot, %u since", at_boot,
                 allocations - at_boot);
    return 0;
}
