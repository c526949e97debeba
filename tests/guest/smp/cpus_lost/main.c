/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CPU that does not start: what wakes CPUs is wrapped by the linker (ldflags)
 * and keeps quiet to the one with local APIC 1. It is woken when nobody expects
 * it any more, and must do no harm then.
 */

#include "guest/tap.h"

#include <kernel/clock.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>

#define LOST 1u
#define INIT 0x4500u
#define MODE(command) ((command) >> 8 & 7)
#define MODE_INIT 5u
#define MODE_START 6u
#define CALLS 50u

void __wrap_lapic_send(uint32_t apic, uint32_t command);
void __real_lapic_send(uint32_t apic, uint32_t command);

static uint32_t kept_back[3]; /* INIT, and the start interrupt twice */
static unsigned kept_count, others;

void __wrap_lapic_send(uint32_t apic, uint32_t command)
{
    const bool starts =
        MODE(command) == MODE_INIT || MODE(command) == MODE_START;

    if (apic != LOST || !starts)
        __real_lapic_send(apic, command);
    else if (kept_count < 3)
        kept_back[kept_count++] = command;
    others += apic != LOST && starts;
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
    for (unsigned i = 1; i < cpu_count(); i++)
        for (unsigned k = 0; k < CALLS; k++) {
            const unsigned before = answers;

            (void)cpu_call(i, ask, NULL);
            while (answers == before)
                loop_wait();
        }
}

/* As long as it takes to be woken, on a machine that is not busy; late does no
 * harm here, either. */
static void wake_lost(void)
{
    const uint64_t begin = clock_ns();

    for (unsigned i = 0; i < kept_count; i++) {
        __real_lapic_send(LOST, kept_back[i]);
        while (clock_ns() - begin < (i + 1) * 20 * NS_PER_MS)
            loop_poll();
    }
}

int service_main(void)
{
    tap_plan(5);
    tap_is_equal(cpu_count(), 3, "three of four CPUs run");
    tap_is_equal(kept_count, 3, "the lost one was asked to start twice");
    tap_ok(kept_back[0] == INIT && others >= 4, "after INIT; so were others");
    ask_all();
    tap_is_equal(answers, 2 * CALLS, "the others answer");
    wake_lost();
    ask_all();
    tap_is_equal(answers, 4 * CALLS,
                 "and go on when the lost one comes too late");
    return tap_end();
}
