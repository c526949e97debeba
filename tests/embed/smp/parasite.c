/* SPDX-License-Identifier: Apache-2.0 */

/* All that this kernel needs for the profiler, beside a few calls. */

#include "kernel.h"

#include <prof/begin.h>

void (*current_eoi_mechanism)(void); /* each tick is the kernel's */

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        pc_put(*text++);
}

int profiler_start(const char *options)
{
    static const struct prof_config config = {
        .tick = {.kind = PROF_TICK_GATE, .vector = TICK_VECTOR},
        .text = {(uintptr_t)code_begin, (uintptr_t)code_end},
        .cpus = 2,
    };
    int error;

    load_tss(0);
    error = prof_begin_with(&config, options, NULL, 0);
    wake_cpu(1);
    while (!started)
        prof_cpu_answer();
    return error;
}

int profiler_join(void)
{
    int error;

    load_tss(1);
    error = prof_cpu_join(1);
    started = true;
    return error;
}
