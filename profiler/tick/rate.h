/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RATE_H
#define PROF_RATE_H

/* From rates to periods in counts of the PIT's clock, in which the sources PIT,
 * `nmi` and `lapic` keep them, and to cycles. PROF_WITH_PIT. Contexts:
 * thread. */

#include <stdint.h>

/* The period of (hz), which the sampler and the machine's timer can bear. */
uint32_t prof_rate_divisor(uint32_t hz);

/* The same for a timer that is no kernel's: none that would have to be longer
 * than the longest one to vary. */
uint32_t prof_rate_divisor_alone(uint32_t hz);

/* Cycles of a period of (divisor) counts. Contexts: any. */
uint32_t prof_rate_cycles(uint32_t divisor);

#endif
