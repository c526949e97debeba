/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parasite in LK on the platform pc, x86-64, as an app: a thread that polls. LK
 * stops the PIT once it has a better clock: the profiler has it for itself.
 */

#include <app.h>
#include <arch/x86/apic.h>
#include <platform/debug.h>
#include <platform/interrupts.h>
#include <platform/pc.h>
#include <prof/begin.h>

extern char __code_start[], __code_end[];

static void done(void)
{
    lapic_eoi(INT_PIT);
}
void (*current_eoi_mechanism)(void) = done;

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        platform_dputc(*text++);
}

static void parasite(const struct app_descriptor *app, void *args)
{
    static const struct prof_config config = {
        .tick = {.kind = PROF_TICK_OWN_PIT, .vector = INT_PIT},
        .text = {(uintptr_t)__code_start, (uintptr_t)__code_end}};

    unmask_interrupt(INT_PIT);
    prof_begin(&config);
    for (;; thread_sleep(5))
        prof_poll();
}

/* clang-format off */
APP_START(parasite)
    .entry = parasite,
APP_END
