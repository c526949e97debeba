/* SPDX-License-Identifier: Apache-2.0 */
/* Each further CPU joins the profiler by itself, while the first one answers:
 * so their time stamp counters are compared. Where the host did not run both at
 * that moment they are compared again, one CPU at a time. Then its event loop
 * calls prof_cpu_poll(). */

#include "prof_cpus.h"

#if ARCH_CPUS_MAX > 1

#include <arch/cpu.h>
#include <kernel/console.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <prof/cpus.h>
#include <prof/error.h>
#include <prof/trace.h>

#define COMPARISONS_MAX 8u
#define ERROR_CYCLES 20000u /* some 10 us: better is tried for */

static unsigned done; /* CPUs that have joined, or failed to; or were
                                  compared, or not */
static int errors[ARCH_CPUS_MAX];

bool prof_cpus_are_several(void)
{
    return cpu_count() > 1;
}

/* Of each CPU: it was kicked, and has not polled since. */
static bool is_due[ARCH_CPUS_MAX];

static bool due(void)
{
    return is_due[arch_cpu_number()];
}

/* Cleared first: what is asked for from now on comes with another kick. */
static void poll(void)
{
    is_due[arch_cpu_number()] = false;
    prof_cpu_poll();
}

static void join(void *context)
{
    static struct loop_source sources[ARCH_CPUS_MAX];
    const unsigned number = arch_cpu_number();
    const bool on = arch_interrupts_save();

    (void)context;
    errors[number] = prof_cpu_join(number);
    arch_interrupts_restore(on);
    sources[number] = (struct loop_source){.waiting = due, .turn = poll};
    loop_add(&sources[number]);
    __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
}

static void compare(void *context)
{
    const bool on = arch_interrupts_save();

    (void)context;
    (void)prof_cpu_compare();
    arch_interrupts_restore(on);
    __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
}

static void call_cpu(unsigned number, cpu_function *function)
{
    static struct cpu_message messages[ARCH_CPUS_MAX];

    messages[number].function = function;
    messages[number].own = true;
    cpu_send(number, &messages[number]);
}

/* Answers CPUs until (called) of them have done what they were called for. */
static void answer(unsigned called)
{
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < called)
        prof_cpu_answer();
    done = 0;
}

static bool is_inexact(unsigned number)
{
    struct prof_cpu_stats stats;

    return errors[number] == 0 && prof_cpu_stats(number, &stats) &&
           stats.tsc_error > ERROR_CYCLES;
}

/* Messages come after polls in a turn of the loop, so one more turn is due. No
 * kick is lost: whoever finds that one is sent has asked before on_kick(). */
static struct {
    struct cpu_message message;
    bool is_sent;
} kicks[ARCH_CPUS_MAX];

static void on_kick(void *context)
{
    (void)context;
    /* the recorder does not know who runs when it begins: the loop */
    if (prof_trace_current() == PROF_TRACE_UNKNOWN)
        prof_trace_switch(PROF_TRACE_NONE);
    is_due[arch_cpu_number()] = true;
    __atomic_store_n(&kicks[arch_cpu_number()].is_sent, false,
                     __ATOMIC_SEQ_CST);
}

void prof_cpus_kick(uint32_t number)
{
    if (__atomic_exchange_n(&kicks[number].is_sent, true, __ATOMIC_SEQ_CST))
        return;
    kicks[number].message.function = on_kick;
    kicks[number].message.own = true;
    cpu_send(number, &kicks[number].message);
}

void prof_cpus_trace(void)
{
    for (unsigned i = 1; i < cpu_count(); i++)
        prof_cpus_kick(i);
}

void prof_cpus_join(void)
{
    for (unsigned i = 1; i < cpu_count(); i++)
        call_cpu(i, join);
    answer(cpu_count() - 1);
    for (unsigned i = 1; i < cpu_count(); i++)
        for (unsigned tries = 0; tries < COMPARISONS_MAX && is_inexact(i);
             tries++) {
            call_cpu(i, compare);
            answer(1);
        }
    for (unsigned i = 1; i < cpu_count(); i++)
        if (errors[i] != 0)
            console_line("prof: not sampling CPU %u: %s", i,
                         prof_strerror(errors[i]));
}

#endif
