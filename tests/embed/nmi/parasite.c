/* SPDX-License-Identifier: Apache-2.0 */

/* All that this kernel needs for the profiler, beside a few calls. */

#include "kernel.h"

#include <prof/begin.h>

void (*current_eoi_mechanism)(void);

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        pc_put(*text++);
}

int profiler_start(const char *line, uint32_t divisor, uint8_t vector)
{
    static struct prof_config config = {
        .tsc_hz = 1000000000, /* QEMU's, where it counts instructions */
        .tick = {.lapic_vector = SAMPLE_VECTOR, .nmi = true},
        .text = {(uintptr_t)code_begin, (uintptr_t)code_end},
    };

    config.tick.kind = divisor != 0 ? PROF_TICK_PIT : PROF_TICK_NMI;
    config.tick.kernel_divisor = divisor;
    config.tick.vector = vector;
    current_eoi_mechanism = acknowledge;
    return prof_begin_with(&config, line, NULL, 0);
}
