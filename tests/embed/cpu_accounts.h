/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_CPU_ACCOUNTS_H
#define EMBED_CPU_ACCOUNTS_H

/* What the profiler says of each CPU. */

#include <prof/prof.h>
#include <stdbool.h>

/* Whether each of the first (cpus) CPUs has at least so many ticks. */
static inline bool have_ticks(unsigned cpus, uint32_t ticks)
{
    struct prof_cpu_stats stats;

    for (unsigned cpu = 0; cpu < cpus; cpu++)
        if (!prof_cpu_stats(cpu, &stats) || stats.ticks < ticks)
            return false;
    return true;
}

/* Whether each of the first (cpus) CPUs takes part, and each of its ticks is in
 * one of the profiler's sums. */
static inline bool accounts_add_up(unsigned cpus)
{
    struct prof_cpu_stats stats;

    for (unsigned cpu = 0; cpu < cpus; cpu++)
        if (!prof_cpu_stats(cpu, &stats) || !stats.joined ||
            stats.ticks != stats.attributed + stats.idle + stats.unresolved +
                               stats.user + stats.dropped + stats.queued)
            return false;
    return true;
}

#endif
