/* SPDX-License-Identifier: Apache-2.0 */
/* Messages (<kernel/cpu.h>) in an image for one CPU, which sends them to
 * itself. With several they are in kernel/cpus.c. */

#include <arch/cpu_number.h>

#if ARCH_CPUS_MAX == 1

#include <arch/cpu.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/panic.h>
#include <stddef.h>

static struct cpu_message *first, **last = &first;

static bool has_messages(void)
{
    return first != NULL;
}

static struct cpu_message *take_all(void)
{
    const bool on = arch_interrupts_save();
    struct cpu_message *taken = first;

    first = NULL;
    last = &first;
    arch_interrupts_restore(on);
    return taken;
}

static void run_messages(void)
{
    struct cpu_message *each = take_all();

    while (each != NULL) {
        struct cpu_message *message = each;

        each = message->next; /* its owner may send it again from now on */
        message->function(message->context);
    }
}

/* An interrupt may send one, too. */
void cpu_send(unsigned cpu, struct cpu_message *message)
{
    static struct loop_source source = {.waiting = has_messages,
                                        .turn = run_messages};
    static bool added;
    const bool on = arch_interrupts_save();

    if (cpu != 0)
        panic("a message to a CPU that does not run");
    if (!added)
        loop_add(&source);
    added = true;
    message->next = NULL;
    *last = message;
    last = &message->next;
    arch_interrupts_restore(on);
}

unsigned cpu_count(void)
{
    return 1;
}

unsigned cpu_number(void)
{
    return 0;
}

#endif
