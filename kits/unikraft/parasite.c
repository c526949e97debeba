/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parasite in Unikraft 0.17 on KVM, x86-64. Unikraft uses the PIT for its
 * sleeps; nobody uses the clock's periodic interrupt, 1,024 times a second.
 */

#include <prof/begin.h>
#include <uk/console.h>
#include <uk/init.h>
#include <uk/intctlr.h>
#include <uk/plat/common/sections.h>
#include <x86/cpu.h>

#define CLOCK_IRQ 8

void (*current_eoi_mechanism)(void);

void prof_port_write(const char *text, size_t bytes)
{
    uk_console_out(text, bytes);
}

static int on_clock(void *unused)
{
    outb(0x70, 0x0c);
    (void)inb(0x71);
    prof_poll();
    return 1;
}

static int start(struct uk_init_ctx *unused)
{
    const struct prof_config config = {
        .tick = {.kind = PROF_TICK_GATE, .vector = 32 + CLOCK_IRQ},
        .text = {__TEXT, __ETEXT}};

    for (int i = 0; i < 4; i++)
        outb(0x70 + i % 2, "\x8a\x26\x8b\x42"[i]);
    uk_intctlr_irq_register(CLOCK_IRQ, on_clock, NULL);
    return prof_begin(&config);
}
uk_late_initcall(start, 0);
