/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parasite in xv6 for x86. xv6 does not use the PIT: the profiler has it for
 * itself, through pin 2 of the IOAPIC. ld --wrap calls this file where CPU 0
 * has counted a tick.
 */

#include "types.h"
#include "defs.h"
#include "memlayout.h"
#include "traps.h"

#include <prof/begin.h>

#define PIT_PIN 2

extern char etext[];
void __real_wakeup(void *channel);
void (*current_eoi_mechanism)(void) = lapiceoi;

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        uartputc(*text++);
}

void __wrap_wakeup(void *channel)
{
    static const struct prof_config config = {
        .tick = {.kind = PROF_TICK_OWN_PIT, .vector = T_IRQ0 + PIT_PIN},
        .text = {KERNLINK, (uintptr_t)etext},
    };
    static int begun;

    __real_wakeup(channel);
    if (channel != &ticks)
        return;
    if (!begun++) {
        ioapicenable(PIT_PIN, 0);
        prof_begin(&config);
    }
    prof_poll();
}
