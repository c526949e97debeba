/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CPU that stops while it starts, on its stack and with its tables, before it
 * turns on its local APIC. CPU 0 gives it up after a while; goes it on then, it
 * must do no harm.
 */

#include "guest/tap.h"

#include "../../../../arch/x86/lapic.h"

#include <arch/cpu.h>
#include <arch/timer.h>
#include <kernel/clock.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>

#define CALLS 50u

void __wrap_lapic_start_further(void);
void __real_lapic_start_further(void);
void __wrap_arch_timer_start_further(void);
void __real_arch_timer_start_further(void);

static volatile bool is_held = true, is_late;
static unsigned begun; /* event loops of other CPUs */

/* The second one is held: the first has number 1 by then. */
void __wrap_lapic_start_further(void)
{
    const bool is_second = cpu_count() == 2;

    while (is_second && is_held)
        arch_pause();
    __real_lapic_start_further();
    is_late = is_second;
}

void __wrap_arch_timer_start_further(void)
{
    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    __real_arch_timer_start_further();
}

static volatile unsigned answers;
static struct cpu_message answer;

static void on_answer(void *context)
{
    (void)context;
    answers++;
}

static void ask(void *context)
{
    (void)context;
    answer.function = on_answer;
    cpu_send(0, &answer);
}

static void ask_all(void)
{
    for (unsigned k = 0; k < CALLS; k++) {
        const unsigned before = answers;

        (void)cpu_call(1, ask, NULL);
        while (answers == before)
            loop_wait();
    }
}

/* It has run on for some time then; that it does so later does no harm here. */
static void let_go(void)
{
    uint64_t begin;

    is_held = false;
    while (!is_late)
        loop_poll();
    begin = clock_ns();
    while (clock_ns() - begin < 20 * NS_PER_MS)
        loop_poll();
}

int service_main(void)
{
    tap_plan(4);
    tap_is_equal(cpu_count(), 2, "no CPU is started after the one that stops");
    ask_all();
    tap_is_equal(answers, CALLS, "the other one answers");
    let_go();
    ask_all();
    tap_is_equal(answers, 2 * CALLS, "also when the late one has gone on");
    tap_is_equal(begun, 1, "which has no event loop");
    return tap_end();
}
