/* SPDX-License-Identifier: Apache-2.0 */

/* All that this kernel needs for the profiler, beside a few calls. */

#include "kernel.h"

#include <prof/begin.h>

void (*current_eoi_mechanism)(); // not used: the kernel's interrupt samples

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        pc_put(*text++);
}

bool profiler_start()
{
    prof_config config = {};

    config.tick.kind = PROF_TICK_HOOK;
    config.tick.rate_mhz = KERNEL_TICK_HZ * 1000;
    config.text = {uintptr_t(code_begin), uintptr_t(code_end)};
    config.memory = {0x100000, 0x8000000};
    return prof_begin(&config) == 0;
}
