/* SPDX-License-Identifier: Apache-2.0 */

/* All that this kernel needs for the profiler, beside the calls of prof_...()
 * in kernel.c and task.c. */

#include "kernel.h"

#include <prof/begin.h>

void (*current_eoi_mechanism)(void) = timer_done;

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        pc_put(*text++);
}

int profiler_start(const char *line)
{
    static const struct prof_config config = {
        .tick = {.kernel_divisor = KERNEL_DIVISOR, .vector = PC_VECTOR},
        .text = {(uintptr_t)code_begin, (uintptr_t)code_end},
        .idle = {(uintptr_t)idle_begin, (uintptr_t)idle_end},
        .memory = {0x100000, 0x8000000},
    };

    return prof_begin_with(&config, line, NULL, 0);
}
