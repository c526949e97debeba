/* SPDX-License-Identifier: Apache-2.0 */

/* All that this kernel needs for the profiler, beside a few calls. */

#include "kernel.h"

#include <prof/begin.h>

#define PIT_PIN 2
#define PIT_VECTOR 34

void (*current_eoi_mechanism)(void) = apic_done;

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        pc_put(*text++);
}

int profiler_start(void)
{
    static const struct prof_config config = {
        .tick = {.kind = PROF_TICK_OWN_PIT, .vector = PIT_VECTOR},
        .text = {(uintptr_t)code_begin, (uintptr_t)code_end},
    };

    if (prof_begin(&config) != 0)
        return -1;
    ioapic_route(PIT_PIN, CPU_FIRST, PIT_VECTOR);
    return 0;
}
