/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_GROWTH_WRAPS_H
#define BENCH_GROWTH_WRAPS_H

#include <stdbool.h>

/* Nobody reads what the profiler prints from now on. */
extern bool growth_quiet;

/* To be set before the profiler starts, by an option: the kernel samples by a
 * hook of its own, so that the profiler looks after no gate and no PIT. */
extern bool growth_hooked;

#endif
