/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Further CPUs: which there are, by ACPI's MADT; their event loops; messages
 * between them.
 *
 * The messages for a CPU are a stack that everybody pushes onto, by a compare
 * and swap, and that only this CPU takes, whole, and reverses. Who finds it
 * empty interrupts the CPU if that may halt. It says so before its loop looks
 * for messages for the last time before a halt, with interrupts off, and the
 * other has pushed before it asks: tests/model/mailbox.pml.
 */

#include "cpus.h"

#if ARCH_CPUS_MAX > 1

#include "heap.h"

#include <acpi.h>
#include <arch/apic.h>
#include <arch/context.h>
#include <arch/cpu.h>
#include <arch/timer.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <malloc.h>
#include <prof/loop.h>
#include <prof/trace.h>
#include <stddef.h>
#include <stdlib.h>

/* A host that has other work may run a virtual CPU as late as that. */
#define PATIENCE_MS 5000u

/* ACPI Specification 6.4, 5.2.12.2 and 5.2.12.12: the bytes of an entry, and
 * where it has the number of the local APIC and its flags. */
#define MADT_LOCAL_APIC 0u
#define MADT_LOCAL_APIC_BYTES 8u
#define MADT_X2APIC 9u
#define MADT_X2APIC_BYTES 16u
#define MADT_ENABLED 1u

static unsigned limit = ARCH_CPUS_MAX;
static volatile unsigned count = 1;
static char *spare; /* memory for a CPU that has not started */

/* ---- messages */

static struct cpu_message *volatile heads[ARCH_CPUS_MAX]; /* newest first */
static bool may_halt[ARCH_CPUS_MAX]; /* written by its CPU */

/* To the recorder a message is an object, which one CPU creates and another one
 * runs. */
static PROF_TRACE_NAME(message_site, "message");

static bool has_messages(void)
{
    const unsigned number = arch_cpu_number();

    if (!may_halt[number])
        __atomic_store_n(&may_halt[number], true, __ATOMIC_SEQ_CST); /* (A) */
    return heads[number] != NULL;
}

static void run_message(struct cpu_message *message)
{
    const uint32_t object = message->trace, before = prof_trace_current();
    const bool traced =
        object != PROF_TRACE_NONE && object != PROF_TRACE_UNKNOWN;
    struct prof_loop_frame frame;

    if (traced)
        prof_trace_switch(object);
    prof_loop_begin(&frame, &message_site);
    message->function(message->context);
    prof_loop_leave(&frame);
    if (!traced)
        return;
    prof_trace_resolve(object);
    prof_trace_switch(before);
}

static void run_messages(void)
{
    const unsigned number = arch_cpu_number();
    struct cpu_message *newest, *oldest = NULL;

    __atomic_store_n(&may_halt[number], false, __ATOMIC_RELAXED);
    newest = __atomic_exchange_n(&heads[number], NULL, __ATOMIC_ACQUIRE);
    while (newest != NULL) {
        struct cpu_message *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest != NULL) {
        struct cpu_message *message = oldest;

        oldest = message->next; /* its owner may send it again from now on */
        run_message(message);
    }
}

static struct loop_source sources[ARCH_CPUS_MAX] = {
    [0 ... ARCH_CPUS_MAX - 1] = {.waiting = has_messages,
                                 .turn = run_messages}};

void cpu_send(unsigned cpu, struct cpu_message *message)
{
    struct cpu_message *before;

    if (cpu >= count)
        panic("a message to a CPU that does not run");
    message->trace =
        message->own ? PROF_TRACE_NONE
                     : prof_trace_create(PROF_TRACE_CALLBACK, &message_site);
    before = heads[cpu];
    do
        message->next = before;
    while (!__atomic_compare_exchange_n(&heads[cpu], &before, message, true,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    if (before == NULL && cpu != arch_cpu_number() &&
        __atomic_load_n(&may_halt[cpu], __ATOMIC_SEQ_CST)) /* (A) */
        arch_cpu_interrupt(cpu);
}

unsigned cpu_count(void)
{
    return count;
}

unsigned cpu_number(void)
{
    return arch_cpu_number();
}

/* ---- the end */

static int exit_code;

static void exit_here(void *context)
{
    (void)context;
    kernel_exit(exit_code);
}

void cpus_exit_on_first(int code)
{
    static struct cpu_message message = {.function = exit_here};
    static bool sent;

    if (!__atomic_test_and_set(&sent, __ATOMIC_ACQ_REL)) {
        exit_code = code;
        cpu_send(0, &message);
    }
    for (;;) {
        arch_interrupts_off();
        arch_idle();
    }
}

/* ---- the beginning */

/* Does not return: a loop that was stopped goes on. */
static void run_loop(void)
{
    arch_timer_start_further();
    loop_add(&sources[arch_cpu_number()]);
    arch_interrupts_on();
    for (;;)
        loop_run();
}

static void say_lost(uint32_t apic, const char *what)
{
    console_line("boot: the CPU with local APIC %u %s", (unsigned)apic, what);
}

/* What did not start may do so later, and has guard pages in it: it is kept for
 * the next one. */
static void start_cpu(uint32_t apic)
{
    if (spare == NULL)
        spare = memalign(ARCH_PAGE_BYTES, ARCH_CPU_BYTES);
    if (spare == NULL || (uintptr_t)spare > UINT32_MAX - ARCH_CPU_BYTES) {
        console_line("boot: no memory for a CPU");
        return;
    }
    switch (arch_cpu_start(apic, count, spare, heap_page, clock_tsc_hz(),
                           PATIENCE_MS, run_loop)) {
    case ARCH_CPU_STARTED:
        spare = NULL;
        count++;
        break;
    case ARCH_CPU_SILENT:
        say_lost(apic, "did not start");
        break;
    case ARCH_CPU_STUCK:
        say_lost(apic, "stopped while it started: no more are started");
        limit = count;
        break;
    case ARCH_CPU_FAR:
        say_lost(apic, "is left out: no interrupt can be sent to it, as the "
                       "firmware has not turned on x2APIC mode");
        break;
    case ARCH_CPU_NO_PAGE:
        console_line("boot: no page below 1 MiB for other CPUs");
        break;
    }
}

static uint32_t get32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

/* The local APIC of a CPU that can be started, by (entry). */
static bool is_usable(const uint8_t *entry, uint32_t *apic)
{
    if (entry[0] == MADT_X2APIC) {
        if (entry[1] < MADT_X2APIC_BYTES)
            return false;
        *apic = get32(entry + 4);
        return (get32(entry + 8) & MADT_ENABLED) != 0;
    }
    if (entry[1] < MADT_LOCAL_APIC_BYTES)
        return false;
    *apic = entry[3];
    return (get32(entry + 4) & MADT_ENABLED) != 0;
}

/* Firmware may list a CPU as both types. No more are tried than can run. */
static bool is_new(uint32_t apic)
{
    static uint32_t tried[ARCH_CPUS_MAX];
    static unsigned used;

    for (unsigned i = 0; i < used; i++)
        if (tried[i] == apic)
            return false;
    if (used == ARCH_CPUS_MAX)
        return false;
    tried[used++] = apic;
    return true;
}

static void start_listed(uint8_t type)
{
    const uint8_t *entry = NULL;
    uint32_t apic;

    while (count < limit && (entry = acpi_madt_entry(type, entry)) != NULL)
        if (is_usable(entry, &apic) && apic != arch_apic_id() && is_new(apic))
            start_cpu(apic);
}

void cpus_start(void)
{
    if (!arch_timer_exists()) {
        console_line("boot: 1 CPU: others need a timer in their local APIC");
        return;
    }
    loop_add(&sources[0]);
    start_listed(MADT_LOCAL_APIC);
    start_listed(MADT_X2APIC);
    console_line("boot: %u CPU%s", count, count == 1 ? "" : "s");
}

bool cpus_option(const char *value)
{
    char *end;
    const unsigned long number = strtoul(value, &end, 10);

    if (end == value || *end != '\0' || number < 1 || number > ARCH_CPUS_MAX)
        return false;
    limit = (unsigned)number;
    return true;
}

#endif
