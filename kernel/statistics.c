/* SPDX-License-Identifier: Apache-2.0 */
/* A periodic line about the image; its format is in statistics.h. */

#include "statistics.h"

#include "prof_port.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <prof/prof.h>
#include <stdint.h>
#include <stdlib.h>

#define MS_MAX 3600000ul

static struct loop_timer timer;
static unsigned long every_ms;

static void print(void *unused)
{
    size_t held_bytes;
    size_t held_pieces = prof_port_held(&held_bytes);
    size_t heap_bytes = service_heap_in_use();
    struct prof_stats stats;
    uint64_t ns, ticks;
    bool on;

    (void)unused;
    prof_stats(&stats);
    on = arch_interrupts_save();
    ns = clock_ns();
    ticks = clock_ticks();
    arch_interrupts_restore(on);
    console_fresh_line();
    console_line(
        "statistics: %llu ns, %llu ticks; heap %lu bytes, %lu of them the "
        "profiler's, in %lu pieces; %llu samples, %llu discarded",
        (unsigned long long)ns, (unsigned long long)ticks,
        (unsigned long)heap_bytes, (unsigned long)held_bytes,
        (unsigned long)held_pieces,
        (unsigned long long)(stats.ticks + stats.forgotten),
        (unsigned long long)stats.stream_discarded);
}

bool statistics_option(const char *value)
{
    char *end;
    unsigned long ms = strtoul(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end != '\0' || ms == 0 ||
        ms > MS_MAX)
        return false;
    every_ms = ms;
    return true;
}

void statistics_start(void)
{
    if (every_ms != 0)
        loop_every(&timer, every_ms * NS_PER_MS, print, NULL);
}
