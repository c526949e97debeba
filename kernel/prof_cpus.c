/* SPDX-License-Identifier: Apache-2.0 */
/* Each further CPU joins the profiler by itself, while the first one answers:
 * so their time stamp counters are compared. */

#include "prof_cpus.h"

#if ARCH_CPUS_MAX > 1

#include <arch/cpu.h>
#include <kernel/console.h>
#include <kernel/cpu.h>
#include <prof/cpus.h>
#include <prof/error.h>

static volatile unsigned joined; /* or failed */
static int errors[ARCH_CPUS_MAX];

bool prof_cpus_are_several(void)
{
    return cpu_count() > 1;
}

static void join(void *context)
{
    const unsigned number = arch_cpu_number();
    const bool on = arch_interrupts_save();

    (void)context;
    errors[number] = prof_cpu_join(number);
    arch_interrupts_restore(on);
    __atomic_add_fetch(&joined, 1, __ATOMIC_RELEASE);
}

void prof_cpus_join(void)
{
    static struct cpu_message messages[ARCH_CPUS_MAX];
    const unsigned count = cpu_count();

    for (unsigned i = 1; i < count; i++) {
        messages[i].function = join;
        cpu_send(i, &messages[i]);
    }
    while (joined < count - 1)
        prof_cpu_answer();
    for (unsigned i = 1; i < count; i++)
        if (errors[i] != 0)
            console_line("prof: not sampling CPU %u: %s", i,
                         prof_strerror(errors[i]));
}

#endif
