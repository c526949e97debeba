/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Wrappers that the linker puts between the kernel's port and the profiler
 * (--wrap in ldflags). They count the memory that the profiler holds, can
 * discard what it prints, and can configure it for a kernel with a hook.
 */

#include "growth.h"
#include "guest/wraps.h"

#include <prof/port.h>

/* As the PIT comes to at the default rate. */
#define HOOK_RATE_MHZ 1000152u

bool growth_quiet, growth_hooked;
static uint64_t held;

void __real_prof_port_free(void *piece);
void __wrap_prof_port_free(void *piece);

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    if (growth_hooked)
        own.tick = (struct prof_tick){.kind = PROF_TICK_HOOK,
                                      .rate_mhz = HOOK_RATE_MHZ};
    return __real_prof_init(memory, bytes, &own);
}

/* In front of each piece, as long as any type is aligned to. */
union head {
    size_t bytes;
    max_align_t any;
};

void *__wrap_prof_port_alloc(size_t bytes)
{
    union head *piece = __real_prof_port_alloc(bytes + sizeof *piece);

    if (piece == NULL)
        return NULL;
    piece->bytes = bytes;
    held += bytes;
    return piece + 1;
}

void __wrap_prof_port_free(void *piece)
{
    union head *head = (union head *)piece - 1;

    held -= head->bytes;
    __real_prof_port_free(head);
}

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    if (!growth_quiet)
        __real_prof_port_write(text, bytes);
}

uint64_t growth_heap(void)
{
    return held;
}
