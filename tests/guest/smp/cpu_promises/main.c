/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks and promises on all CPUs at once, each of which has the others resolve
 * what it awaits. Nothing here depends on how fast the host is, nor on when it
 * runs which CPU.
 */

#include "guest/tap.h"

#include <arch/cpu_number.h>
#include <kernel/clock.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <kernel/sync.h>
#include <kernel/task.h>
#include <stdlib.h>

#define ROUNDS 60u
#define TASKS 8u /* on each CPU */
#define SLEEPS 10u

/* Of each CPU; one writes only its own. */
static struct {
    uint64_t wrong, elsewhere, answers;
    unsigned ended;
    struct mutex mutex;
    unsigned inside, held;
} of[ARCH_CPUS_MAX];

static volatile unsigned finished;

static void on_done(void *context)
{
    (void)context;
    finished++;
}

/* Calls (start) on each CPU, and waits until each has called done(). */
static void on_all(cpu_function *start)
{
    bool sent = true;

    finished = 0;
    for (unsigned i = 0; i < cpu_count(); i++)
        sent &= cpu_call(i, start, NULL);
    while (sent && finished < cpu_count())
        loop_wait();
}

static void done(void)
{
    if (!cpu_call(0, on_done, NULL))
        of[cpu_number()].wrong++;
}

static uint64_t sum_of(uint64_t (*one)(unsigned cpu))
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < cpu_count(); i++)
        sum += one(i);
    return sum;
}

static uint64_t wrong_of(unsigned cpu)
{
    return of[cpu].wrong;
}

static uint64_t elsewhere_of(unsigned cpu)
{
    return of[cpu].elsewhere;
}

static uint64_t answers_of(unsigned cpu)
{
    return of[cpu].answers;
}

/* ---- a promise of CPU n that CPU m resolves, for all n and m */

static const struct promise_producer nobody = {.kind = PROF_TRACE_PROMISE};

struct asked {
    struct cpu_resolve resolve;
    struct promise *promise;
    unsigned from;
};

static uintptr_t value_of(unsigned from, unsigned by)
{
    return 1000u + from * 100u + by;
}

static void resolve(void *context)
{
    struct asked *asked = context;

    cpu_resolve(&asked->resolve, asked->promise,
                value_of(asked->from, cpu_number()));
}

static uintptr_t ask_each(void *context)
{
    const unsigned here = cpu_number();
    struct asked *asked = calloc(cpu_count(), sizeof *asked);

    (void)context;
    for (unsigned round = 0; round < ROUNDS && asked != NULL; round++) {
        for (unsigned i = 0; i < cpu_count(); i++) {
            asked[i].promise = promise_new(&nobody, NULL, "of another CPU");
            asked[i].from = here;
            of[here].wrong += !cpu_call(i, resolve, &asked[i]);
        }
        for (unsigned i = 0; i < cpu_count(); i++) {
            struct promise_result result = task_await(asked[i].promise);

            of[here].answers++;
            of[here].elsewhere += cpu_number() != here;
            of[here].wrong += result.state != PROMISE_RESOLVED ||
                              result.value != value_of(here, i);
        }
    }
    of[here].wrong += asked == NULL;
    free(asked);
    done();
    return 0;
}

static void start_asking(void *context)
{
    (void)context;
    promise_free(task_start("asks each", ask_each, NULL));
}

/* ---- calls whose value comes back */

static uintptr_t where(void *context)
{
    return (uintptr_t)context * 100 + cpu_number();
}

static uintptr_t call_each(void *context)
{
    const unsigned here = cpu_number();
    struct promise *promises[ARCH_CPUS_MAX];
    uintptr_t values[ARCH_CPUS_MAX];

    (void)context;
    for (uintptr_t round = 0; round < ROUNDS; round++) {
        struct promise_result all;

        for (unsigned i = 0; i < cpu_count(); i++)
            promises[i] = cpu_async(i, where, (void *)round);
        all = task_await(promise_join(promises, cpu_count(), values));
        of[here].elsewhere += cpu_number() != here;
        of[here].wrong += all.state != PROMISE_RESOLVED;
        for (unsigned i = 0; i < cpu_count(); i++)
            of[here].wrong += values[i] != round * 100 + i;
    }
    done();
    return 0;
}

static void start_calling(void *context)
{
    (void)context;
    promise_free(
        task_start_sized("calls each", call_each, NULL, TASK_STACK_MAX));
}

/* Nobody waits for what is freed, and its value goes nowhere. */
static uintptr_t give_up(void *context)
{
    const unsigned here = cpu_number();

    (void)context;
    for (unsigned i = 0; i < cpu_count(); i++) {
        struct promise *promise = cpu_async(i, where, NULL);

        promise_cancel(promise);
        of[here].wrong += promise_state(promise) != PROMISE_CANCELLED;
        promise_free(promise);
        promise_free(cpu_async(i, where, NULL));
    }
    /* after all of these, as messages arrive in order */
    for (unsigned i = 0; i < cpu_count(); i++)
        of[here].wrong += task_await(cpu_async(i, where, NULL)).value != i;
    done();
    return 0;
}

static void start_giving_up(void *context)
{
    (void)context;
    promise_free(task_start("gives up", give_up, NULL));
}

/* ---- several tasks on each */

static uintptr_t work(void *context)
{
    const unsigned here = cpu_number();

    (void)context;
    for (unsigned i = 0; i < SLEEPS; i++) {
        task_await(mutex_lock(&of[here].mutex));
        of[here].wrong += of[here].inside++ != 0;
        task_await(promise_sleep(NS_PER_MS / 10));
        of[here].elsewhere += cpu_number() != here;
        of[here].inside--;
        of[here].held++;
        mutex_unlock(&of[here].mutex);
        task_yield();
        of[here].elsewhere += cpu_number() != here;
    }
    if (++of[here].ended == TASKS)
        done();
    return 0;
}

static void start_working(void *context)
{
    (void)context;
    for (unsigned i = 0; i < TASKS; i++)
        promise_free(task_start("works", work, NULL));
}

static uint64_t held_of(unsigned cpu)
{
    return of[cpu].held;
}

/* ---- a promise that another CPU uses */

static uintptr_t misuse(void *context)
{
    struct promise *promise = context;

    bool failed = task_wait(promise).state == PROMISE_FAILED;

    promise_cancel(promise);
    promise_free(promise);
    return promise_resolve(promise, 1) + !failed;
}

static uintptr_t be_misused(void *context)
{
    struct promise *own = promise_new(&nobody, NULL, "misused");
    struct promise_result result =
        task_await(cpu_async(*(unsigned *)context, misuse, own));

    tap_ok(result.state == PROMISE_RESOLVED && result.value == 0 &&
               promise_state(own) == PROMISE_PENDING,
           "another CPU can neither await, cancel, free nor resolve a promise");
    promise_resolve(own, 0);
    promise_free(own);
    return 0;
}

static void misused(void)
{
    unsigned other = cpu_count() - 1;
    struct promise *task = task_start("is misused", be_misused, &other);

    while (promise_state(task) == PROMISE_PENDING)
        loop_wait();
    promise_free(task);
    tap_is_equal(promise_stats().errors, 4, "which is counted");
}

int service_main(void)
{
    const uint64_t count = cpu_count();

    tap_plan(8);
    on_all(start_asking);
    tap_is_equal(sum_of(answers_of), (long long)(count * count * ROUNDS),
                 "each CPU's promises are resolved by each");
    on_all(start_calling);
    on_all(start_giving_up);
    on_all(start_working);
    tap_is_equal(sum_of(held_of), (long long)(count * TASKS * SLEEPS),
                 "tasks of each CPU share a mutex of it");
    tap_is_equal(sum_of(wrong_of), 0, "with the right values");
    tap_is_equal(sum_of(elsewhere_of), 0, "a task stays on its CPU");
    while (task_stats().live != 0 || promise_stats().live != 0)
        loop_poll(); /* the last ones are ending on other CPUs */
    tap_is_equal(promise_stats().errors, 0, "no promise is used wrongly");
    tap_is_equal((long long)task_stats().started,
                 (long long)(count * (3 + TASKS)), "all tasks have ended");
    misused();
    return tap_end();
}
