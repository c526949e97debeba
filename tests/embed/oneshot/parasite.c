/* SPDX-License-Identifier: Apache-2.0 */

/* All that this kernel needs for the profiler, beside a few calls and the one
 * in arm(). */

#include "kernel.h"

#include <prof/begin.h>
#include <prof/pic.h>

void (*current_eoi_mechanism)(void) = prof_pic_done;

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        pc_put(*text++);
}

int profiler_start(const char *line)
{
    static const struct prof_config config = {
        .tsc_hz = 1000000000, /* QEMU's, where it counts instructions */
        .tick = {.kind = PROF_TICK_AUTO,
                 .vector = PC_VECTOR,
                 .lapic_vector = TIMER_VECTOR,
                 .lapic_shared = true},
        .text = {(uintptr_t)code_begin, (uintptr_t)code_end},
    };

    prof_pic_open(config.tick.vector);
    return prof_begin_with(&config, line, NULL, 0);
}
