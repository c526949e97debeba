/* SPDX-License-Identifier: Apache-2.0 */
/* Each further CPU joins the profiler by itself, while the first one answers:
 * so their time stamp counters are compared. Where the host did not run both at
 * that moment it is tried again. Then its event loop calls prof_cpu_poll(). */

#include "prof_cpus.h"

#if ARCH_CPUS_MAX > 1

#include <arch/cpu.h>
#include <kernel/console.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <prof/cpus.h>
#include <prof/error.h>

#define COMPARISONS_MAX 8u

static volatile unsigned done; /* CPUs that have joined, or failed to; or were
                                  compared, or not */
static int errors[ARCH_CPUS_MAX];

bool prof_cpus_are_several(void)
{
    return cpu_count() > 1;
}

static bool never(void)
{
    return false;
}

static void join(void *context)
{
    static struct loop_source sources[ARCH_CPUS_MAX];
    const unsigned number = arch_cpu_number();
    const bool on = arch_interrupts_save();

    (void)context;
    errors[number] = prof_cpu_join(number);
    arch_interrupts_restore(on);
    sources[number] =
        (struct loop_source){.waiting = never, .turn = prof_cpu_poll};
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

/* Has those other CPUs call (function) that are (wanted), and answers them.
 * Returns how many did. */
static unsigned call_others(cpu_function *function,
                            bool (*wanted)(unsigned number))
{
    static struct cpu_message messages[ARCH_CPUS_MAX];
    unsigned called = 0;

    done = 0;
    for (unsigned i = 1; i < cpu_count(); i++) {
        if (!wanted(i))
            continue;
        messages[i].function = function;
        cpu_send(i, &messages[i]);
        called++;
    }
    while (done < called)
        prof_cpu_answer();
    return called;
}

static bool is_any(unsigned number)
{
    return number != 0;
}

static bool is_not_compared(unsigned number)
{
    struct prof_cpu_stats stats;

    return errors[number] == 0 && prof_cpu_stats(number, &stats) &&
           stats.tsc_error == PROF_CPU_TSC_UNKNOWN;
}

void prof_cpus_join(void)
{
    (void)call_others(join, is_any);
    for (unsigned i = 0;
         i < COMPARISONS_MAX && call_others(compare, is_not_compared) != 0; i++)
        ;
    for (unsigned i = 1; i < cpu_count(); i++)
        if (errors[i] != 0)
            console_line("prof: not sampling CPU %u: %s", i,
                         prof_strerror(errors[i]));
}

#endif
