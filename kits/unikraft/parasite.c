/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parasite in Unikraft 0.17 on KVM, x86-64, on all of its CPUs. Unikraft uses
 * the PIT for its sleeps. Nobody uses the local APICs' timers, which sample, or
 * the clock's periodic interrupt, which polls, 1,024 times a second.
 *
 * A CPU that the program has started gets a function to run now and then, by
 * which it joins, and its timer begins.
 *
 * All CPUs have the same TSS selector, so that TSC_AUX identifies them.
 */

#include <prof/begin.h>
#include <uk/console.h>
#include <uk/init.h>
#include <uk/intctlr.h>
#include <uk/plat/common/sections.h>
#include <uk/plat/lcpu.h>
#include <x86/cpu.h>

#define CLOCK_IRQ 8
#define FREE_IRQ 39
#define TURNS 64 /* of the clock, until CPUs may join again */
#define TSC_AUX 0xc0000103
#define HALT_BYTES 16 /* at most */

void (*current_eoi_mechanism)(void);

void prof_port_write(const char *text, size_t bytes)
{
    uk_console_out(text, bytes);
}

#if CONFIG_HAVE_SMP
static void on_other_cpu(struct __regs *none, void *unused)
{
    wrmsr(TSC_AUX, ukplat_lcpu_idx(), 0);
    prof_cpu_join(ukplat_lcpu_idx());
    prof_cpu_poll();
}

/* Those that have no sample yet; only CPUs that have been started run it. */
static void join_others(void)
{
    static const struct ukplat_lcpu_func join = {on_other_cpu, NULL};
    struct prof_cpu_stats cpu;

    for (__lcpuidx i = 1; i < ukplat_lcpu_count(); i++)
        if (prof_cpu_stats(i, &cpu) && cpu.ticks == 0)
            ukplat_lcpu_run(&i, &(unsigned){1}, &join,
                            UKPLAT_LCPU_RFLG_DONOTBLOCK);
}
#else
#define join_others() ((void)0)
#endif

static int on_clock(void *unused)
{
    static unsigned turns;

    if (++turns % TURNS == 0)
        join_others();
    outb(0x70, 0x0c);
    (void)inb(0x71);
    prof_poll();
    return 1;
}

static int start(struct uk_init_ctx *unused)
{
    static const struct prof_config config = {
        .tick = {.kind = PROF_TICK_LAPIC, .lapic_vector = 32 + FREE_IRQ},
        .text = {__TEXT, __ETEXT},
        .idle = {(uintptr_t)ukplat_lcpu_halt_irq,
                 (uintptr_t)ukplat_lcpu_halt_irq + HALT_BYTES},
        .memory = {4096, 4UL << 30},
        .cpus = PROF_CPUS_MAX};

    for (int i = 0; i < 4; i++)
        outb(0x70 + i % 2, "\x8a\x26\x8b\x42"[i]);
    uk_intctlr_irq_register(CLOCK_IRQ, on_clock, NULL);
    return prof_begin(&config);
}
uk_late_initcall(start, 0);
