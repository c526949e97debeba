/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a timer was set to stays in force until it has interrupted: a sample or
 * a device that ends a halt costs no access to it. One that comes too soon
 * costs a halt more, which is less than setting it again each time.
 *
 * The PIT may be set to one interrupt only while nothing samples: who samples
 * programs it, and wants it to tick when it begins. So while the loop does not
 * halt, the PIT ticks.
 */

#include "alarm.h"

#include "clock.h"

#include <arch/cpu.h>
#include <arch/cpu_number.h>
#include <arch/timer.h>
#include <arch/trap.h>
#include <irq.h>
#include <kernel/clock.h>
#include <pic.h>
#include <pit.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <stddef.h>
#include <string.h>

#define NEVER UINT64_MAX
#define BUSY_NS (10 * NS_PER_MS)

void (*current_eoi_mechanism)(void) = pic_eoi_timer;

static enum {
    LOCAL_APIC,
    PIT,
    TICK,
} kind;
static bool has_pit;
static bool once;       /* the PIT is set to one interrupt */
static bool while_busy; /* CPUs are interrupted then, too */

/* Of each CPU. That of a further one is always its local APIC's. */
static struct {
    volatile uint64_t set_ns; /* when it will interrupt */
    bool halts;               /* between alarm_set() and alarm_end() */
} alarms[ARCH_CPUS_MAX] = {[0 ... ARCH_CPUS_MAX - 1] = {.set_ns = NEVER}};

#define HERE (&alarms[arch_cpu_number()])

static bool is_local(void)
{
    return kind == LOCAL_APIC || arch_cpu_number() != 0;
}

static bool busy_interrupts(void)
{
    return while_busy && is_local();
}

static void set_local(uint64_t ns, uint64_t now_ns)
{
    if (ns > ARCH_TIMER_NS_MAX)
        ns = ARCH_TIMER_NS_MAX;
    HERE->set_ns = now_ns + ns;
    arch_timer_arm(ns);
}

static void on_local(void)
{
    HERE->set_ns = NEVER;
    if (busy_interrupts() && !HERE->halts)
        set_local(BUSY_NS, clock_ns());
}

static void on_pit(void)
{
    if (!once)
        clock_tick();
    HERE->set_ns = NEVER;
    current_eoi_mechanism();
}

static void tick(void)
{
    once = false;
    pit_start(CLOCK_DIVISOR);
}

/* The profiler's interrupts come through the PIT's line, too. */
bool alarm_start(uint64_t tsc_hz)
{
    kind = arch_timer_start(tsc_hz, on_local) ? LOCAL_APIC : PIT;
    has_pit = pit_exists();
    if (!has_pit)
        return kind == LOCAL_APIC;
    current_eoi_mechanism = irq_done_timer();
    arch_irq_handle(PIC_LINE_TIMER, on_pit);
    if (kind == LOCAL_APIC)
        pit_stop();
    else
        tick();
    irq_unmask(PIC_LINE_TIMER);
    return true;
}

bool alarm_option(const char *value)
{
    bool by_tick = strcmp(value, "tick") == 0, on;

    if (!by_tick && strcmp(value, "pit") != 0)
        return strcmp(value, "auto") == 0;
    if (!has_pit)
        return false;
    on = arch_interrupts_save();
    arch_timer_stop();
    HERE->set_ns = NEVER;
    kind = by_tick ? TICK : PIT;
    tick();
    arch_interrupts_restore(on);
    return true;
}

const char *alarm_name(void)
{
    switch (kind) {
    case LOCAL_APIC:
        return arch_timer_name();
    case PIT:
        return "PIT, one-shot; at 100 Hz while it samples";
    case TICK:
        return "PIT at 100 Hz";
    }
    return "unknown";
}

bool alarm_has_pit(void)
{
    return has_pit;
}

bool alarm_uses_pit(void)
{
    return kind != LOCAL_APIC;
}

static void set_pit(uint64_t ns, uint64_t now_ns)
{
    uint64_t counts = (ns < BUSY_NS * 6 ? ns : BUSY_NS * 6) * PIT_HZ / NS_PER_S;

    if (counts > PIT_ONCE_MAX - 1)
        counts = PIT_ONCE_MAX - 1;
    counts++; /* no sooner than due */
    HERE->set_ns = now_ns + counts * NS_PER_S / PIT_HZ;
    once = true;
    pit_once((uint32_t)counts);
}

void alarm_set(uint64_t due_ns, uint64_t now_ns)
{
    uint64_t ns = due_ns > now_ns ? due_ns - now_ns : 0;

    HERE->halts = true;
    if ((HERE->set_ns != NEVER && HERE->set_ns <= due_ns) ||
        (kind == TICK && arch_cpu_number() == 0))
        return;
    if (is_local())
        set_local(ns, now_ns);
    else if (!prof_running())
        set_pit(ns, now_ns);
}

void alarm_end(void)
{
    uint64_t now_ns;

    HERE->halts = false;
    if (once && arch_cpu_number() == 0) {
        HERE->set_ns = NEVER;
        tick();
    }
    if (!busy_interrupts())
        return;
    now_ns = clock_ns();
    if (HERE->set_ns == NEVER || HERE->set_ns > now_ns + BUSY_NS)
        set_local(BUSY_NS, now_ns);
}

void alarm_while_busy(bool wanted)
{
    bool on = arch_interrupts_save();

    while_busy = wanted;
    if (!HERE->halts)
        alarm_end();
    arch_interrupts_restore(on);
}
