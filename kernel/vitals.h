/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_VITALS_H
#define KERNEL_VITALS_H

#include <stdbool.h>

/*
 * Takes vitals=MS: a line on the console so often, for whoever watches the
 * image over a long time. It says what clock_ns() and clock_ticks() are as it
 * begins to be written; bytes that malloc() has given out, and how many of
 * them, in how many pieces, the profiler holds; the ticks that it has counted
 * since boot, and of these what its stream has not got.
 *
 *     vitals: 5000123456 ns, 500 ticks; heap 84120 bytes, 69632 of them the
 *     profiler's, in 5 pieces; 4970 samples, 0 discarded      (all one line)
 *
 * False: not a number of milliseconds, 1 to 3,600,000. Contexts: boot.
 */
bool vitals_option(const char *value);

/* Arms the timer of that line, where one is wanted. Contexts: boot. */
void vitals_start(void);

#endif
