/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends on a CPU other than the first, in the way that die=WAY says, while the
 * others compute with interrupts off, so that only an NMI stops them. What it
 * has to say then stands in ../cases.py. No way may come back.
 */

#include "guest/word.h"

#include <arch/cpu.h>
#include <arch/cpus.h>
#include <kernel/console.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <stdlib.h>

/* A function that a backtrace is to name must be one. */
#define NAMED static __attribute__((noinline, noclone))

static volatile unsigned ready;
static volatile uintptr_t null;
static volatile unsigned most = 1u << 30;

static void hold_interrupts_off(void *context)
{
    (void)context;
    arch_interrupts_off();
    __atomic_add_fetch(&ready, 1, __ATOMIC_RELAXED);
    for (;;)
        arch_pause();
}

static void wait_for(unsigned count)
{
    while (ready < count)
        arch_pause();
}

static volatile bool holds_console;

/* CPU 1 holds the console for ever then, in the middle of a line: the linker
 * puts this in the place of the driver's (ldflags). */
size_t __wrap_uart_write(uint16_t port, const char *text, size_t bytes);
size_t __real_uart_write(uint16_t port, const char *text, size_t bytes);

size_t __wrap_uart_write(uint16_t port, const char *text, size_t bytes)
{
    if (holds_console && cpu_number() == 1)
        hold_interrupts_off(NULL);
    return __real_uart_write(port, text, bytes);
}

static void hold_console(void *context)
{
    (void)context;
    holds_console = true;
    console_line("this is never seen");
}

NAMED void write_null(void)
{
    *(volatile uint8_t *)(null + 8) = 1;
}

NAMED unsigned overflow(unsigned depth)
{
    volatile unsigned char more[512];

    more[0] = (unsigned char)depth;
    if (depth == most)
        return 0;
    return overflow(depth + 1) + more[0];
}

static uintptr_t die_in_task(void *context)
{
    (void)context;
    write_null();
    return 0;
}

static void die(void *context)
{
    (void)context;
    if (guest_is("exit"))
        exit(42);
    wait_for(cpu_count() - 1);
    if (guest_is("fault"))
        write_null();
    if (guest_is("overflow"))
        (void)overflow(0);
    if (guest_is("task"))
        promise_free(task_start("doomed", die_in_task, NULL));
    panic("planned");
}

/* All at once, at the same moment. */
static void die_together(void *context)
{
    (void)context;
    __atomic_add_fetch(&ready, 1, __ATOMIC_RELAXED);
    wait_for(cpu_count());
    panic("all at once");
}

int service_main(void)
{
    const bool is_together = guest_is("together"), is_exit = guest_is("exit");

    for (unsigned i = 1; i < cpu_count(); i++) {
        cpu_function *function = hold_interrupts_off;

        if (is_together)
            function = die_together;
        else if (i == cpu_count() - 1)
            function = die;
        else if (guest_is("console") && i == 1)
            function = hold_console;
        else if (is_exit)
            continue;
        if (!cpu_call(i, function, NULL))
            panic("no memory");
    }
    if (is_together)
        die_together(NULL);
    if (is_exit)
        return SERVICE_LOOP;
    hold_interrupts_off(NULL);
    return 1;
}
