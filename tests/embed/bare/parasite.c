/* SPDX-License-Identifier: Apache-2.0 */

/* All that this program needs for the profiler, beside a few calls. */

#include "kernel.h"

#include <prof/begin.h>
#include <prof/pic.h>

void (*current_eoi_mechanism)(void) = prof_pic_done;

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        pc_put(*text++);
}

int profiler_start(void)
{
    static const struct prof_config config = {
        .tick = {.kind = PROF_TICK_OWN_PIT, .vector = 32},
        .text = {(uintptr_t)code_begin, (uintptr_t)code_end},
    };

    prof_pic_open(config.tick.vector);
    if (prof_begin(&config) != 0)
        return -1;
    __asm__ volatile("sti");
    return 0;
}
