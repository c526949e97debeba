/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernel/task.h promises: when a task runs, what is preserved while it
 * waits, and what becomes of it.
 */

#include "guest/tap.h"

#include <kernel/clock.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <string.h>

static char order[64];

static void note(const char *letter)
{
    if (strlen(order) + 1 < sizeof order)
        strncat(order, letter, 1);
}

static bool noted(const char *wanted)
{
    bool same = strcmp(order, wanted) == 0;

    if (!same)
        tap_note("got \"%s\", wanted \"%s\"", order, wanted);
    order[0] = '\0';
    return same;
}

/* ---- order */

static uintptr_t two_parts(void *letters)
{
    const char *name = letters;

    note(name);
    task_await(promise_sleep(NS_PER_MS));
    note(name + 1);
    return (uintptr_t)name;
}

static uintptr_t parent(void *unused)
{
    struct promise *child;

    (void)unused;
    note("<");
    child = task_start("child", two_parts, "cd");
    note("-");
    task_await(child);
    note(">");
    return 0;
}

static uintptr_t yielding(void *letter)
{
    for (int i = 0; i < 3; i++) {
        note(letter);
        task_yield();
    }
    return 0;
}

static void test_order(void)
{
    struct promise *first = task_start("first", two_parts, "ab"), *second;
    struct promise_result result;

    note("+");
    result = task_await(first);
    tap_ok(noted("a+b"), "a task runs at once, until it waits");
    tap_ok(result.state == PROMISE_RESOLVED &&
               strcmp((const char *)result.value, "ab") == 0,
           "what it returns is the value of its promise");
    task_await(task_start("parent", parent, NULL));
    tap_ok(noted("<c-d>"), "a task that a task has started goes on with that");
    first = task_start("x", yielding, "x");
    second = task_start("y", yielding, "y");
    task_await(first);
    task_await(second);
    tap_ok(noted("xyxyxy"), "those that yield take turns");
}

/* ---- the FPU */

struct fpu {
    uint16_t control;
    uint32_t mxcsr;
    double start;
    bool kept;
};

static uint16_t x87_control(void)
{
    uint16_t control;

    __asm__ volatile("fnstcw %0" : "=m"(control));
    return control;
}

/* Without the flags of exceptions that have occurred. */
static uint32_t mxcsr(void)
{
    uint32_t value;

    __asm__ volatile("stmxcsr %0" : "=m"(value));
    return value & ~0x3fu;
}

static uintptr_t calculate(void *context)
{
    struct fpu *fpu = context;
    double sum = fpu->start;

    fpu->kept = x87_control() == 0x037f && mxcsr() == 0x1f80;
    __asm__ volatile("fldcw %0" : : "m"(fpu->control));
    __asm__ volatile("ldmxcsr %0" : : "m"(fpu->mxcsr));
    for (int i = 0; i < 100; i++) {
        sum = sum * 1.0625 + 1.0;
        task_yield();
        fpu->kept =
            fpu->kept && x87_control() == fpu->control && mxcsr() == fpu->mxcsr;
    }
    fpu->start = sum;
    return 0;
}

static double expected(double sum)
{
    for (int i = 0; i < 100; i++)
        sum = sum * 1.0625 + 1.0;
    return sum;
}

/* Rounding modes that leave these sums as they are: they are all but exact. */
static void test_fpu(void)
{
    struct fpu up = {0x0b7f, 0x5f80, 1.0, false};
    struct fpu down = {0x077f, 0x3f80, 1000.0, false};
    struct promise *tasks[] = {task_start("up", calculate, &up),
                               task_start("down", calculate, &down)};
    uint16_t control = x87_control();
    uint32_t sse = mxcsr();

    task_await(promise_join(tasks, 2, NULL));
    tap_ok(up.kept && down.kept, "each task has FPU modes of its own");
    tap_ok(x87_control() == control && mxcsr() == sse,
           "and so has what is no task");
    tap_ok(up.start > expected(1.0) * 0.999999 &&
               up.start < expected(1.0) * 1.000001 &&
               down.start > expected(1000.0) * 0.999999 &&
               down.start < expected(1000.0) * 1.000001,
           "numbers are preserved while it waits");
}

/* ---- stacks */

__attribute__((noinline)) static uintptr_t dig(unsigned depth)
{
    volatile uintptr_t mine = depth;
    uintptr_t below = depth == 0 ? 0 : dig(depth - 1);

    if (depth % 16 == 0)
        task_yield();
    return below + (mine == depth);
}

static uintptr_t digging(void *depth)
{
    return dig((unsigned)(uintptr_t)depth);
}

static void test_stacks(void)
{
    static const size_t sizes[] = {1, TASK_STACK_MIN, 5000, TASK_STACK_DEFAULT,
                                   TASK_STACK_MAX};
    struct promise *tasks[5];
    uintptr_t values[5];
    struct task_stats before, after;

    for (unsigned i = 0; i < 5; i++)
        tasks[i] = task_start_sized("dig", digging,
                                    (void *)(uintptr_t)(16 + 10 * i), sizes[i]);
    task_await(promise_join(tasks, 5, values));
    tap_ok(values[0] == 17 && values[1] == 27 && values[2] == 37 &&
               values[3] == 47 && values[4] == 57,
           "tasks with stacks of all sizes use them at the same time");
    before = task_stats();
    for (unsigned i = 0; i < 1000; i++)
        task_await(task_start_sized("again", digging, (void *)5, sizes[i % 5]));
    after = task_stats();
    tap_ok(after.stack_bytes == before.stack_bytes &&
               after.stacks == before.stacks,
           "stacks of tasks that have ended are used again");
    tap_ok(after.started == before.started + 1000 && after.live == before.live,
           "tasks are counted");
    tap_ok(task_start_sized("huge", digging, NULL, TASK_STACK_MAX + 1) == NULL,
           "a stack that is too large is refused");
}

/* ---- ends */

static uintptr_t failing(void *unused)
{
    (void)unused;
    task_yield();
    return task_fail("no luck");
}

static unsigned cancelled_awaits;

static uintptr_t sleeping(void *unused)
{
    (void)unused;
    if (task_await(promise_sleep(1000 * NS_PER_S)).state == PROMISE_CANCELLED)
        cancelled_awaits++;
    note(task_is_cancelled() ? "c" : "-");
    if (task_await(promise_sleep(NS_PER_MS)).state == PROMISE_RESOLVED)
        note("s");
    return 7;
}

static uintptr_t named(void *unused)
{
    (void)unused;
    return strcmp(task_name(), "a name") == 0;
}

static void in_callback(void *context)
{
    struct promise *promise = promise_sleep(NS_PER_MS);

    *(struct promise_result *)context = task_await(promise);
}

static void test_ends(void)
{
    struct promise_result result =
        task_await(task_start("failing", failing, NULL));
    struct promise *task = task_start("sleeping", sleeping, NULL);
    struct loop_timer timer = {0};

    tap_ok(result.state == PROMISE_FAILED &&
               strcmp(result.why->text, "no luck") == 0,
           "a task fails with a reason");
    promise_cancel(task);
    tap_ok(promise_state(task) == PROMISE_CANCELLED, "a task is cancelled");
    task_await(promise_sleep(50 * NS_PER_MS));
    tap_ok(cancelled_awaits == 1 && noted("cs"),
           "it learns of that once, and may wait again");
    tap_ok(task_await(task).state == PROMISE_CANCELLED,
           "what it returns then does not matter");
    tap_ok(task_await(task_start("a name", named, NULL)).value == 1 &&
               task_name() == NULL,
           "a task has a name");
    result = (struct promise_result){0};
    loop_once(&timer, 0, in_callback, &result);
    task_await(promise_sleep(20 * NS_PER_MS));
    tap_ok(result.state == PROMISE_FAILED,
           "a callback of the loop cannot wait; the await fails");
    task_await(promise_sleep(20 * NS_PER_MS));
}

/* ---- cost: an instruction takes 1 ns here */

#define ROUNDS 1000u

static uint64_t since(uint64_t begin_ns)
{
    return (clock_ns() - begin_ns) / ROUNDS;
}

static uintptr_t yield_often(void *cost)
{
    const uint64_t begin_ns = clock_ns();

    for (unsigned i = 0; i < ROUNDS; i++)
        task_yield();
    *(uint64_t *)cost = since(begin_ns);
    return 0;
}

static uintptr_t nothing(void *unused)
{
    (void)unused;
    return 0;
}

static void test_cost(void)
{
    uint64_t cost = 0, begin_ns;

    task_await(task_start("yields", yield_often, &cost));
    tap_note("%u instructions", (unsigned)cost);
    tap_is_between((long long)cost, 50, 400,
                   "instructions to yield, with the loop's turn");
    begin_ns = clock_ns();
    for (unsigned i = 0; i < ROUNDS; i++)
        promise_free(task_start("nothing", nothing, NULL));
    cost = since(begin_ns);
    tap_note("%u instructions", (unsigned)cost);
    tap_is_between((long long)cost, 50, 900,
                   "instructions to start and end a task");
    begin_ns = clock_ns();
    for (unsigned i = 0; i < ROUNDS; i++)
        promise_free(promise_of(i));
    cost = since(begin_ns);
    tap_note("%u instructions", (unsigned)cost);
    tap_is_between((long long)cost, 20, 350,
                   "instructions to make, resolve and free a promise");
}

int service_main(void)
{
    tap_plan(21);
    test_order();
    test_fpu();
    test_stacks();
    test_ends();
    test_cost();
    tap_is_equal(task_stats().live, 0, "no task is left");
    return tap_end();
}
