/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_GROWTH_WRAPS_H
#define BENCH_GROWTH_WRAPS_H

#include <stdbool.h>

/* Discards what the profiler prints from now on. */
extern bool growth_quiet;

/* Set it before the profiler starts: the source of ticks is then the kernel's
 * hook (PROF_TICK_HOOK), and the profiler touches neither gate nor PIT. */
extern bool growth_hooked;

#endif
