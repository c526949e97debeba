/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is waited for, by name. A unit of work waits 500 us for a device, 300
 * for a lock whose holder sleeps, 200 for the sleep of a task, and 100 for a
 * timer that has a callback of its own; then it computes. The device answers
 * after a time that has passed, so that all of it is by the guest's clock.
 */

#include "guest/guest.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <kernel/sync.h>
#include <kernel/task.h>
#include <prof/causal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NAMED __attribute__((noinline, noclone))
#define US 1000u
#define DEVICE_US 500u
#define LOCK_US 300u
#define SLEEP_US 200u
#define TIMER_US 100u
#define TURN_US 5u
#define ROUNDS 20000u

static unsigned units = 4000, done;
static struct prof_agent agent;
static struct prof_request request;
static struct promise *answered, *refilled;
static uint64_t answers_ns; /* 0: it has no request */
static struct mutex ledger = {.name = "ledger"};

void compute(void);
void unit_done(void);

NAMED void compute(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        __asm__ volatile("# compute");
}

NAMED void unit_done(void)
{
    done++;
    __asm__ volatile("");
}

/* ---- the device */

static void on_answer(void *unused)
{
    struct promise *own = answered;

    (void)unused;
    promise_resolve(own, 0);
}

static bool waiting(void)
{
    return false; /* it has no interrupt: due_ns() */
}

static uint64_t due_ns(void)
{
    return answers_ns != 0 ? answers_ns : UINT64_MAX;
}

static void turn(void)
{
    static struct loop_answer answer = {.callback = on_answer};
    bool was_held;

    if (answers_ns == 0)
        return;
    if (clock_ns() < answers_ns) {
        /* There is nothing else to do, and turns cost an emulator much. */
        guest_execute(TURN_US * US);
        return;
    }
    answers_ns = 0;
    was_held = request.cause.real != 0 && prof_causal_running();
    if (was_held)
        loop_deliver(&answer, prof_agent_answer(&agent, &request, arch_tsc()));
    else
        on_answer(NULL);
}

static const struct promise_producer producer = {.kind = PROF_TRACE_PROMISE};

static struct promise *ask(void)
{
    answered = promise_new_at(PROMISE_HERE("device"), &producer, NULL);
    request = (struct prof_request){0};
    if (prof_causal_running())
        prof_agent_submit(&agent, &request, prof_causal_now());
    answers_ns = clock_ns() + DEVICE_US * US;
    return answered;
}

/* ---- a timer */

static void refill(void *unused)
{
    (void)unused;
    promise_resolve(refilled, 0);
}

static struct promise *wait_for_refill(void)
{
    static struct loop_timer timer;

    refilled = promise_new_at(PROMISE_HERE("refill"), &producer, NULL);
    loop_once(&timer, TIMER_US * US, refill, NULL);
    return refilled;
}

/* ---- tasks */

/* Has the lock whenever it is asked for. */
static uintptr_t keep(void *unused)
{
    (void)unused;
    task_await(mutex_lock(&ledger));
    task_await(promise_sleep(LOCK_US * US));
    mutex_unlock(&ledger);
    return 0;
}

static uintptr_t work(void *unused)
{
    (void)unused;
    while (done < units) {
        struct promise *keeper;

        task_await(ask());
        keeper = task_start("keeper", keep, NULL);
        task_await(mutex_lock(&ledger));
        mutex_unlock(&ledger);
        task_await(keeper);
        task_await(promise_sleep(SLEEP_US * US));
        task_await(wait_for_refill());
        compute();
        unit_done();
    }
    return 0;
}

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "units") != 0)
        return false;
    units = (unsigned)atoi(value);
    return units != 0;
}

int service_main(void)
{
    static struct loop_source device = {
        .waiting = waiting, .turn = turn, .due_ns = due_ns};

    prof_agent_init(&agent, PROF_AGENT_PARALLEL, 0);
    prof_agent_name(&agent, "the tape");
    loop_add(&device);
    task_await(task_start("worker", work, NULL));
    console_line("%u units done", done);
    return 0;
}
