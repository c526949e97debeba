/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RATE_H
#define PROF_RATE_H

/* Converts rates to periods in counts of the PIT's clock, which the sources
 * `pit`, `nmi` and `lapic` use, and to cycles. PROF_WITH_PIT. Contexts:
 * thread. */

#include <stdbool.h>
#include <stdint.h>

/* Returns the period of (hz) in counts, limited to what the sampler and the
 * machine's timer can sustain. */
uint32_t prof_rate_divisor(uint32_t hz);

/* Sets *(divisor) to the period of (hz) for a timer that the kernel does not
 * use: short enough that the longest period with jitter is possible. Returns
 * whether the timer has to be programmed again, for another period, or because
 * ticks came too fast for the one that it has. */
bool prof_rate_change_alone(uint32_t *divisor, uint32_t hz);

/* Returns the cycles of a period of (divisor) counts. Contexts: any. */
uint32_t prof_rate_cycles(uint32_t divisor);

#endif
