/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_STATISTICS_H
#define KERNEL_STATISTICS_H

#include <stdbool.h>

/*
 * Sets statistics=MS: prints a line on the console every MS milliseconds, for
 * long runs. It contains clock_ns() and clock_ticks() at the same moment; bytes
 * allocated by malloc(), and how many of them, in how many blocks, belong to
 * the profiler; the ticks that the profiler has counted since boot, and how
 * many of them are missing in its stream.
 *
 *     statistics: 5000123456 ns, 500 ticks; heap 84120 bytes, 69632 of them the
 *     profiler's, in 5 pieces; 4970 samples, 0 discarded      (all one line)
 *
 * False: not a number from 1 to 3,600,000. Contexts: boot.
 */
bool statistics_option(const char *value);

/* Arms the timer of that line if it is enabled. Contexts: boot. */
void statistics_start(void);

#endif
