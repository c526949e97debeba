/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What NMIs see of code with interrupts off (leaves.h), on all CPUs at once but
 * for the first, whose loop drains meanwhile. Beside it, perf in Linux:
 * linux/cpus in bench/perf.
 *
 * The lines "share FUNCTION SAMPLES" are for bench/perf/irqs_off.py.
 */

#include "guest/guest.h"
#include "leaves.h"

#include <arch/cpu.h>
#include <kernel/console.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <prof/prof.h>
#include <stdlib.h>
#include <string.h>

static uint32_t rounds = 100;
static volatile unsigned ended; /* CPUs that have done their rounds */

bool service_option(const char *key, const char *value)
{
    rounds = (uint32_t)atoi(value);
    return strcmp(key, "rounds") == 0 && rounds > 0;
}

__attribute__((noinline)) static void hold(void)
{
    arch_interrupts_off();
    leaf_off(OFF_TURNS);
    arch_interrupts_on();
}

static void work(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < rounds; i++) {
        hold();
        leaf_on(ON_TURNS);
    }
    __atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
}

static void emit(const char *name, void (*function)(void))
{
    console_line("share %s %u", name,
                 (unsigned)guest_row((uintptr_t)function).samples);
}

int service_main(void)
{
    if (prof_start() != 0)
        return 1;
    for (unsigned i = 1; i < cpu_count(); i++)
        if (!cpu_call(i, work, NULL))
            return 2;
    while (ended < cpu_count() - 1)
        loop_poll();
    prof_stop();
    prof_drain();
    console_line("cpus %u", cpu_count());
    emit("leaf_off", (void (*)(void))leaf_off);
    emit("leaf_on", (void (*)(void))leaf_on);
    emit("hold", hold);
    return 0;
}
