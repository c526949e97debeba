/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parasite in xv6 for x86, on all of its CPUs. xv6 does not use the PIT: the
 * profiler has it for itself, as an NMI, since xv6 turns interrupts off while
 * it holds a lock. ld --wrap calls this file where each CPU begins, and where
 * CPU 0 has counted a tick.
 *
 * All CPUs have the same TSS selector, so that TSC_AUX identifies them.
 */

#include "types.h"
#include "defs.h"

#include <prof/begin.h>

#define TSC_AUX 0xc0000103

extern char multiboot_header[], etext[];
void __real_wakeup(void *channel), __real_scheduler(void);
void (*current_eoi_mechanism)(void); /* an NMI has none */

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        uartputc(*text++);
}

void __wrap_wakeup(void *channel)
{
    __real_wakeup(channel);
    if (channel == &ticks)
        prof_poll();
}

/* Interrupts are off. CPU 0, which has started the others, comes here, too. */
void __wrap_scheduler(void)
{
    static const struct prof_config config = {
        .tick = {.kind = PROF_TICK_NMI},
        .text = {(uintptr_t)multiboot_header, (uintptr_t)etext},
        .cpus = PROF_CPUS_MAX};
    static volatile int begun;

    __asm__ volatile("wrmsr" : : "c"(TSC_AUX), "a"(cpuid()), "d"(0));
    while (!begun)
        if (cpuid() == 0)
            begun = prof_begin(&config) <= 0;
    prof_cpu_join(cpuid());
    __real_scheduler();
}
