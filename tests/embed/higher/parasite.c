/* SPDX-License-Identifier: Apache-2.0 */

/* All that this kernel needs for the profiler, beside a few calls. */

#include "kernel.h"

#include <prof/begin.h>

void (*current_eoi_mechanism)(void) = pit_done;

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        pc_put(*text++);
}

int profiler_start(void)
{
    static const struct prof_config config = {
        .tick = {.kind = PROF_TICK_OWN_PIT, .vector = PC_VECTOR},
        .text = {(uintptr_t)code_begin, (uintptr_t)code_end},
        .memory = {KERNEL_BASE, KERNEL_BASE + (1 << 30)},
    };

    if (prof_begin(&config) != 0)
        return -1;
    pc_pic_unmask(PC_LINE_PIT);
    return 0;
}
